: counts how often it is called
NEURON { SUFFIX counter NONSPECIFIC_CURRENT i RANGE g, count }
PARAMETER { g = 0.0001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) count }
INITIAL { count = 0 }
BREAKPOINT {
    count = count + 0.001
    i = g*count*(v + 35)
}
