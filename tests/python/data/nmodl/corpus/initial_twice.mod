NEURON { SUFFIX initial_twice NONSPECIFIC_CURRENT i }
PARAMETER { g = 0.001 }
ASSIGNED { v (mV) i (mA/cm2) k }
INITIAL { k = 1 }
INITIAL { k = 2 }
BREAKPOINT { i = g*k*(v + 48) }
