NEURON { SUFFIX mixed_print NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { if (v > 1000) { printf("%g\n", v) } i = g*(v + 51) }
