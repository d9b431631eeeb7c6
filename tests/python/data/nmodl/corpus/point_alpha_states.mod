NEURON { POINT_PROCESS point_alpha_states RANGE tau, e, i NONSPECIFIC_CURRENT i }
PARAMETER { tau = 2.2 (ms) e = 0 (mV) }
ASSIGNED { v (mV) i (nA) }
STATE { a (uS) g (uS) }
INITIAL { a = 0 g = 0 }
BREAKPOINT { SOLVE s METHOD sparse i = g*(v - e) }
KINETIC s { ~ a <-> g (1/tau, 0) ~ g -> (1/tau) }
NET_RECEIVE(weight (uS)) { a = a + weight*exp(1) }
