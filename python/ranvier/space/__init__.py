"""Space: positions of neurons, and what depends on their distances."""
