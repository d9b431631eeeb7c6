NEURON { SUFFIX undeclared_name NONSPECIFIC_CURRENT i }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = gg*(v + 48) }
