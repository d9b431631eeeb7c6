NEURON { SUFFIX local_in_inner_block NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0009 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT {
    LOCAL a
    a = 1
    if (v > -60) {
        LOCAL a
        a = 7
        i = a*1e-9
    }
    i = a*g*(v + 50)
}
