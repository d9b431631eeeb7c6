: a conductance that is switched on at a time
NEURON { SUFFIX if_time NONSPECIFIC_CURRENT i RANGE g, start, stop }
PARAMETER { g = 0.001 (S/cm2) start = 5.0125 (ms) stop = 20.0125 (ms) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT {
    if (t > start && t < stop) {
        i = g*(v + 20)
    } else {
        i = 0
    }
}
