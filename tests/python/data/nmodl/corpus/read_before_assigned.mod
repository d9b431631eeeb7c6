: a name that keeps its value from one call to the next
NEURON { SUFFIX read_before_assigned NONSPECIFIC_CURRENT i RANGE g, k }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) k }
INITIAL { k = 1 }
BREAKPOINT {
    i = g*k*(v + 35)
    k = 1 + 1/(1 + exp(-(v + 50)/5))
}
