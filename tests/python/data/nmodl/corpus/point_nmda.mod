NEURON { POINT_PROCESS point_nmda RANGE e, i, mg NONSPECIFIC_CURRENT i }
PARAMETER { tau1 = 2 (ms) tau2 = 40 (ms) e = 0 (mV) mg = 1.2 (mM) }
ASSIGNED { v (mV) i (nA) g (uS) block }
STATE { A (uS) B (uS) }
INITIAL { A = 0 B = 0 }
BREAKPOINT {
    SOLVE state METHOD cnexp
    block = 1/(1 + exp(-0.062(/mV)*v)*(mg/3.57(mM)))
    g = (B - A)*block
    i = g*(v - e)
}
DERIVATIVE state { A' = -A/tau1 B' = -B/tau2 }
NET_RECEIVE(weight (uS)) { A = A + weight B = B + weight }
