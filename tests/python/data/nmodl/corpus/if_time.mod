: a conductance that is switched on at a time
NEURON { SUFFIX if_time NONSPECIFIC_CURRENT i RANGE g, start, stop }
PARAMETER { g = 0.001 (S/cm2) start = 5.02 (ms) stop = 20.03 (ms) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT {
    if (t > start && t < stop) {
        i = g*(v + 20)
    } else {
        i = 0
    }
}
