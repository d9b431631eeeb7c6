: a train of pulses
NEURON { POINT_PROCESS point_pulses_of_conductance RANGE del, period, width, gmax, e, i NONSPECIFIC_CURRENT i }
PARAMETER { del = 2 (ms) period = 5 (ms) width = 1.5 (ms) gmax = 0.003 (uS) e = -10 (mV) }
ASSIGNED { v (mV) i (nA) g (uS) }
BREAKPOINT {
    at_time(del)
    g = 0
    FROM n = 0 TO 3 {
        if (t >= del + n*period && t < del + n*period + width) { g = gmax }
    }
    i = g*(v - e)
}
