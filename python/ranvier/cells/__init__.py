"""Morphologically detailed cells: their forms, their parts, and what is on their membrane."""
