"""Positions of neurons in space."""
