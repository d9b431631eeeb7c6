"""Predictions of the memory and time that a network needs, and dry runs."""
