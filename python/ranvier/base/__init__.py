"""Helpers for all parts of the package: names, numbers, values, times, paths."""
