: opens at a given time, without events
NEURON { POINT_PROCESS point_alpha RANGE onset, tau, gmax, e, i NONSPECIFIC_CURRENT i }
PARAMETER { onset = 3 (ms) tau = 1.5 (ms) gmax = 0.004 (uS) e = 0 (mV) }
ASSIGNED { v (mV) i (nA) g (uS) }
BREAKPOINT {
    if (t < onset) { g = 0 } else { g = gmax*(t - onset)/tau*exp(-(t - onset - tau)/tau) }
    i = g*(v - e)
}
