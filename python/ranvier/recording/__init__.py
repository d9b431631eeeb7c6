"""Recorded data, and files of them."""
