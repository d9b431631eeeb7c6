NEURON { SUFFIX if_around_current_of_v NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT {
    if (v < -50) {
        i = g*(v + 50)
    } else {
        i = 3*g*(v + 50)
    }
}
