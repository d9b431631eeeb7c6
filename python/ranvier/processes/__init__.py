"""The machine, and the processes of a run."""
