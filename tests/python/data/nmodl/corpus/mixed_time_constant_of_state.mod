: an equation that is not linear in its state
NEURON { SUFFIX mixed_time_constant_of_state NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { w }
INITIAL { w = 0.1 }
BREAKPOINT { SOLVE s METHOD derivimplicit i = g*w*(v + 40) }
DERIVATIVE s { w' = (1/(1 + exp(-(v + 45)/6)) - w)/(3 + 10*w*w) }
