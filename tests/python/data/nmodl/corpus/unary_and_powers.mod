NEURON { SUFFIX unary_and_powers NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) k = 2 }
ASSIGNED { v (mV) i (mA/cm2) f }
BREAKPOINT {
    f = -2^2 + (-2)^k + 2^-1 - -3 + 2^3^2/256 - 6/2/3 + (1 - 2 - 3)
    i = g*f*(v + 48)/5
}
