: on some paths the function gives nothing: 0
NEURON { SUFFIX function_without_value NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(1 + partly(v))*(v + 35) }
FUNCTION partly(u) { if (u > -50) { partly = 3 } }
