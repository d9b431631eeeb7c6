: NMODL tells large letters from small ones
NEURON { SUFFIX mixed_case_of_names NONSPECIFIC_CURRENT i RANGE g, G }
PARAMETER { g = 0.001 (S/cm2) G = 0.5 E = -30 (mV) e = -70 (mV) }
ASSIGNED { v (mV) i (mA/cm2) V (mV) }
BREAKPOINT {
    V = v - e
    i = g*(G*V + (1 - G)*(v - E))
}
