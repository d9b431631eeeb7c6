NEURON { SUFFIX numbers_of_all_forms NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 1.E-3 (S/cm2) a = .5 b = 2. c = 3e0 d = 4E+0 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*a*b*c/d*(v + 5.e1) }
