: many terms
NEURON { SUFFIX mixed_long_sum NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) s }
BREAKPOINT {
    s = 0.01+0.02+0.03+0.04+0.05+0.06+0.07+0.08+0.09+0.1+0.11+0.12+0.13+0.14+0.15+0.16+0.17+0.18+0.19+0.2
    i = g*s*(v + 51)
}
