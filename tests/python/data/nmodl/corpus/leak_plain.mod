NEURON {
    SUFFIX leak_plain
    NONSPECIFIC_CURRENT i
    RANGE g, e, i
}

UNITS {
    (mV) = (millivolt)
    (mA) = (milliamp)
}

PARAMETER {
    g = 0.0004 (S/cm2)
    e = -58 (mV)
}

ASSIGNED {
    v (mV)
    i (mA/cm2)
}

BREAKPOINT {
    i = g*(v - e)
}
