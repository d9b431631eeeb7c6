NEURON { POINT_PROCESS point_expsyn RANGE tau, e, i NONSPECIFIC_CURRENT i }
PARAMETER { tau = 3.1 (ms) e = -5 (mV) }
ASSIGNED { v (mV) i (nA) }
STATE { g (uS) }
INITIAL { g = 0 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*(v - e) }
DERIVATIVE s { g' = -g/tau }
NET_RECEIVE(weight (uS)) { g = g + weight }
