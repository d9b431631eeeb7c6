NEURON { SUFFIX declared_in_two_blocks NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 }
STATE { g }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 48) }
