NEURON { SUFFIX before_step NONSPECIFIC_CURRENT i RANGE g, k }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) k }
INITIAL { k = 1 }
BEFORE BREAKPOINT { k = 2 }
BREAKPOINT { i = g*k*(v + 48) }
