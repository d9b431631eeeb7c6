DEFINE COUNT 4
NEURON { SUFFIX define_constant NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0002 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) s }
BREAKPOINT {
    s = 0
    FROM j = 1 TO COUNT { s = s + 1/j }
    i = g*s*(v + 48)
}
