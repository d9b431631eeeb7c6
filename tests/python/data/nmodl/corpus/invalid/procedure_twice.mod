NEURON { SUFFIX procedure_twice NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 }
ASSIGNED { v (mV) i (mA/cm2) k }
BREAKPOINT { p() i = g*k*(v + 48) }
PROCEDURE p() { k = 1 }
PROCEDURE p() { k = 2 }
