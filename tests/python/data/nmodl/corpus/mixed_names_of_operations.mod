: names that mean something elsewhere
NEURON { SUFFIX mixed_names_of_operations NONSPECIFIC_CURRENT i RANGE lambda, where, e1 }
PARAMETER { lambda = 0.001 (S/cm2) where = 2 e1 = -48 (mV) pi = 3 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = lambda*where/pi*(v - e1) }
