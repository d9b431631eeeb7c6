"""Simulation of the exchange of spikes on many more processes than there are here.

`machines` has the parameters of machines, `spikes` the spikes of the test network of Hines, Kumar and Schürmann (2011)
and the processes that need them, and `engine` simulates the exchange.
"""
