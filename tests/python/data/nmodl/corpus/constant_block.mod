NEURON { SUFFIX constant_block NONSPECIFIC_CURRENT i }
CONSTANT { g = 0.0005 (S/cm2) half = 2 e = -49 (mV) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g/half*(v - e) }
