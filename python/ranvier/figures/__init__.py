"""Figures of recordings. Users call them as `ranvier.plot`."""
