: below the threshold the last value of the current stays
NEURON { SUFFIX current_kept_below_threshold NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
INITIAL { i = 0.002 }
BREAKPOINT {
    if (v > -54.8) { i = g*(v + 60) }
}
