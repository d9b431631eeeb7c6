NEURON { SUFFIX if_initial_from_v NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0015 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) inf }
STATE { n }
INITIAL {
    if (v > -63) { n = 0.9 } else { n = 0.2 }
}
BREAKPOINT { SOLVE s METHOD cnexp i = g*n*(v + 25) }
DERIVATIVE s { inf = 1/(1 + exp(-(v + 40)/8)) n' = (inf - n)/11 }
