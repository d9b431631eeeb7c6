NEURON { SUFFIX if_around_solve NONSPECIFIC_CURRENT i RANGE g, on }
PARAMETER { g = 0.001 (S/cm2) on = 1 }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { n }
INITIAL { n = 0.3 }
BREAKPOINT {
    if (on > 0) {
        SOLVE quick METHOD cnexp
    } else {
        SOLVE slow METHOD cnexp
    }
    i = g*n*(v + 40)
}
DERIVATIVE quick { n' = (1/(1 + exp(-(v + 45)/7)) - n)/2 }
DERIVATIVE slow { n' = (1/(1 + exp(-(v + 45)/7)) - n)/20 }
