NEURON { SUFFIX mixed_protect NONSPECIFIC_CURRENT i RANGE g GLOBAL count }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) count }
INITIAL { PROTECT count = count + 1 }
BREAKPOINT { i = g*(v + 51) }
