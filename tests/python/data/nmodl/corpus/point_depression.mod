: state of each connection: not additive
NEURON { POINT_PROCESS point_depression RANGE tau, U, taur NONSPECIFIC_CURRENT i }
PARAMETER { tau = 3 (ms) U = 0.5 taur = 100 (ms) }
ASSIGNED { v (mV) i (nA) }
STATE { g (uS) }
INITIAL { g = 0 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*v }
DERIVATIVE s { g' = -g/tau }
NET_RECEIVE(weight (uS), R, last (ms)) {
    INITIAL { R = 1 last = t }
    R = 1 - (1 - R*(1 - U))*exp(-(t - last)/taur)
    g = g + weight*U*R
    last = t
}
