: a part of the current is carried by calcium
NEURON { POINT_PROCESS point_with_ion USEION ca WRITE ica RANGE frac NONSPECIFIC_CURRENT i }
PARAMETER { frac = 0.12 tau = 8 (ms) }
ASSIGNED { v (mV) i (nA) ica (nA) it }
STATE { g (uS) }
INITIAL { g = 0 }
BREAKPOINT {
    SOLVE s METHOD cnexp
    it = g*v
    ica = frac*it
    i = (1 - frac)*it
}
DERIVATIVE s { g' = -g/tau }
NET_RECEIVE(w (uS)) { g = g + w }
