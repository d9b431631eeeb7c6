: below the threshold the last value of the current stays
NEURON { SUFFIX current_on_one_way USEION k READ ek WRITE ik NONSPECIFIC_CURRENT i RANGE gbar, gate }
PARAMETER { gbar = 0.001 (S/cm2) gate = 0 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) i (mA/cm2) }
BREAKPOINT {
    ik = gbar*(v - ek)
    if (gate > 0.5) { i = 0.01 }
}
