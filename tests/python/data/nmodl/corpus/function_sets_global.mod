: a function that sets a variable beside
NEURON { SUFFIX function_sets_global NONSPECIFIC_CURRENT i RANGE g, side }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) side }
BREAKPOINT { i = g*value(v)*(v + 35)*side }
FUNCTION value(u) {
    side = 2
    value = 1/(1 + exp(-(u + 44)/9))
}
