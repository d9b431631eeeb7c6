"""A network that runs: building, running, reading, changing."""
