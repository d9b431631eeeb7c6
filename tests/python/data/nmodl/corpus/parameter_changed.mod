: a parameter that INITIAL assigns
NEURON { SUFFIX parameter_changed NONSPECIFIC_CURRENT i RANGE g, gfull }
PARAMETER { g = 0.001 (S/cm2) gfull = 5 }
ASSIGNED { v (mV) i (mA/cm2) }
INITIAL { gfull = 2*g }
BREAKPOINT { i = gfull*(v + 43) }
