"""Populations, views of their neurons, and the base classes of their models."""
