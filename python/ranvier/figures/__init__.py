"""Figures of recordings. `ranvier.plot` is how users call them."""
