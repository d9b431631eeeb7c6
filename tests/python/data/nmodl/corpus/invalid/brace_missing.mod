NEURON { SUFFIX brace_missing NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 48)
