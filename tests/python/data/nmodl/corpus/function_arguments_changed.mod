: an argument that is assigned inside
NEURON { SUFFIX function_arguments_changed NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) k }
BREAKPOINT {
    k = 2
    i = g*half(k)*k*(v + 35)
}
FUNCTION half(x) {
    x = x/2
    half = x
}
