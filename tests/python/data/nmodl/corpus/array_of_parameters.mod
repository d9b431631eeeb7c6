NEURON { SUFFIX array_of_parameters NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0004 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) k[3] }
INITIAL {
    FROM j = 0 TO 2 { k[j] = j + 0.5 }
}
BREAKPOINT { i = g*(k[0] + k[1]*k[2])*(v + 50) }
