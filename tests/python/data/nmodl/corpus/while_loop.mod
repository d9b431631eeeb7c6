NEURON { SUFFIX while_loop NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0002 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) s n }
BREAKPOINT {
    s = 1
    n = 0
    WHILE (n < 5) { s = s*1.2 n = n + 1 }
    i = g*s*(v + 48)
}
