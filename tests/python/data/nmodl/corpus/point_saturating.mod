: what an event adds depends on the state
NEURON { POINT_PROCESS point_saturating RANGE tau NONSPECIFIC_CURRENT i }
PARAMETER { tau = 6 (ms) gmax = 0.003 (uS) }
ASSIGNED { v (mV) i (nA) }
STATE { g (uS) }
INITIAL { g = 0 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*v }
DERIVATIVE s { g' = -g/tau }
NET_RECEIVE(weight (uS)) { g = g + weight*(1 - g/gmax) }
