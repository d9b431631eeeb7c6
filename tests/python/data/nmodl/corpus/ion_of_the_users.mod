NEURON { SUFFIX ion_of_the_users USEION hcn READ ehcn WRITE ihcn VALENCE 1 RANGE gbar }
PARAMETER { gbar = 0.001 (S/cm2) ehcn = -32 (mV) }
ASSIGNED { v (mV) ihcn (mA/cm2) }
BREAKPOINT { ihcn = gbar*(v - ehcn) }
