NEURON { SUFFIX solve_of_nothing NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { SOLVE nothing METHOD cnexp i = g*(v + 48) }
