NEURON { SUFFIX current_quadratic NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 4e-6 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 70)*(v + 45) }
