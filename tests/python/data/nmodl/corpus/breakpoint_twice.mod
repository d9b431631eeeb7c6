NEURON { SUFFIX breakpoint_twice NONSPECIFIC_CURRENT i }
PARAMETER { g = 0.001 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 48) }
BREAKPOINT { i = 2*g*(v + 48) }
