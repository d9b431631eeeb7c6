NEURON { SUFFIX function_table NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 48) }
FUNCTION_TABLE lookup(x)
