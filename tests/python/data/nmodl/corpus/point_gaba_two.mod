NEURON { POINT_PROCESS point_gaba_two RANGE e, i NONSPECIFIC_CURRENT i }
PARAMETER { e = -80 (mV) tau_r = 0.3 (ms) tau_d = 9 (ms) gain = 3 }
ASSIGNED { v (mV) i (nA) g (uS) fac }
STATE { r (uS) d (uS) }
INITIAL {
    LOCAL peak
    r = 0
    d = 0
    peak = (tau_r*tau_d)/(tau_d - tau_r)*log(tau_d/tau_r)
    fac = gain/(exp(-peak/tau_d) - exp(-peak/tau_r))
}
BREAKPOINT { SOLVE s METHOD cnexp g = d - r i = g*(v - e) }
DERIVATIVE s { r' = -r/tau_r d' = -d/tau_d }
NET_RECEIVE(weight (uS)) { r = r + weight*fac d = d + weight*fac }
