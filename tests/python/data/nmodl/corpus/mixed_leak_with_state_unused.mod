: a state that no current reads
NEURON { SUFFIX mixed_leak_with_state_unused NONSPECIFIC_CURRENT i RANGE g, n }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { n }
INITIAL { n = 0.2 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*(v + 48) }
DERIVATIVE s { n' = (0.5 + v/200 - n)/10 }
