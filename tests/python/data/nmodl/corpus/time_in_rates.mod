: the time in INITIAL, in what is solved, and in what BREAKPOINT leaves for it
NEURON { SUFFIX time_in_rates NONSPECIFIC_CURRENT i RANGE g, period }
PARAMETER { g = 0.001 (S/cm2) period = 7 (ms) }
ASSIGNED { v (mV) i (mA/cm2) phase }
STATE { n }
INITIAL { n = 0.2 + t phase = 0.5 }
BREAKPOINT {
    SOLVE s METHOD cnexp
    phase = 1 + sin(t/period)
    i = g*n*(v + 20 + phase)
}
DERIVATIVE s { n' = (0.4 + 0.3*cos(t/period) + 0.1*phase - n)/3 }
