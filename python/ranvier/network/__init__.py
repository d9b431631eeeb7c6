"""The description of a network: populations, rules, projections, stimuli, recorders."""
