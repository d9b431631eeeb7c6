: below the threshold the state stays as it is
NEURON { SUFFIX if_without_else_around_rate NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0012 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { n }
INITIAL { n = 0.5 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*n*(v + 30) }
DERIVATIVE s {
    if (v > -50) {
        n' = (0.8 - n)/3
    }
}
