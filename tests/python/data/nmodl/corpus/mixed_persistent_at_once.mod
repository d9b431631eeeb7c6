NEURON { SUFFIX mixed_persistent_at_once USEION na READ ena WRITE ina RANGE gnabar }
PARAMETER { gnabar = 0.0003 (S/cm2) K = 4.5 (1) vh = -52 (mV) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) n }
INITIAL { n = 0 }
BREAKPOINT {
    SOLVE states
    ina = gnabar*n^3*(v - ena)
}
PROCEDURE states() { n = 1/(1 + exp(-(v - vh)/K)) }
