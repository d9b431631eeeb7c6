: the condition decides which equation holds
NEURON { SUFFIX if_around_rates NONSPECIFIC_CURRENT i RANGE g, fast }
PARAMETER { g = 0.0012 (S/cm2) fast = 0 }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { n }
INITIAL { n = 1/(1 + exp(-(v + 50)/8)) }
BREAKPOINT { SOLVE s METHOD cnexp i = g*n*(v + 20) }
DERIVATIVE s {
    if (fast > 0.5) {
        n' = (1/(1 + exp(-(v + 50)/8)) - n)/0.5
    } else {
        n' = (1/(1 + exp(-(v + 50)/8)) - n)/12
    }
}
