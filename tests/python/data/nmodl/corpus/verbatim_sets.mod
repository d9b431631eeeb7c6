: the C code changes the conductance, so that it cannot be passed over
NEURON { SUFFIX verbatim_sets NONSPECIFIC_CURRENT i RANGE g, k }
PARAMETER { g = 0.0007 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) k }
BREAKPOINT {
VERBATIM
    k = 3.0*g;
ENDVERBATIM
    i = k*(v + 51)
}
