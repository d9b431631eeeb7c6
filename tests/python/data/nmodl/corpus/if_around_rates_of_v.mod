NEURON { SUFFIX if_around_rates_of_v NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0012 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { n }
INITIAL { n = 0.5 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*n*(v + 20) }
DERIVATIVE s {
    if (v > -55) {
        n' = (0.9 - n)/2
    } else {
        n' = (0.1 - n)/9
    }
}
