NEURON { SUFFIX state_twice NONSPECIFIC_CURRENT i }
PARAMETER { g = 0.001 }
STATE { n n }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { SOLVE s METHOD cnexp i = g*n*(v + 48) }
DERIVATIVE s { n' = 1 - n }
