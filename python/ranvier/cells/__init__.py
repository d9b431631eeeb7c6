"""Morphologically detailed cells: their forms, their parts, and the mechanisms of their membrane."""
