"""What a network will need: memory and time, predicted or seen in a dry run."""
