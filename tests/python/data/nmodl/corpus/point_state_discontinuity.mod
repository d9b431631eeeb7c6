NEURON { POINT_PROCESS point_state_discontinuity RANGE tau, e, i NONSPECIFIC_CURRENT i }
PARAMETER { tau = 2 (ms) e = 0 (mV) }
ASSIGNED { v (mV) i (nA) }
STATE { g (uS) }
INITIAL { g = 0 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*(v - e) }
DERIVATIVE s { g' = -g/tau }
NET_RECEIVE(weight (uS)) { state_discontinuity(g, g + weight) }
