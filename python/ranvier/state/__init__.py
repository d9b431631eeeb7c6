"""Files in which the state of a simulation is saved."""
