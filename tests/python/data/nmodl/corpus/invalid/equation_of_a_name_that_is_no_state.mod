NEURON { SUFFIX equation_of_a_name_that_is_no_state NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 }
ASSIGNED { v (mV) i (mA/cm2) q }
BREAKPOINT { SOLVE s METHOD cnexp i = g*q*(v + 48) }
DERIVATIVE s { q' = -q }
