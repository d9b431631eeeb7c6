NEURON { SUFFIX parameter_twice NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 g = 0.002 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 48) }
