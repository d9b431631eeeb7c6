NEURON { SUFFIX if_around_current NONSPECIFIC_CURRENT i RANGE g, blocked }
PARAMETER { g = 0.001 (S/cm2) blocked = 0 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT {
    if (blocked == 0) {
        i = g*(v + 45)
    } else {
        i = 0
    }
}
