: rates are assigned in BREAKPOINT, and read in DERIVATIVE
NEURON { SUFFIX mixed_rates_from_breakpoint USEION k READ ek WRITE ik RANGE gbar, ninf }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) ninf }
STATE { n }
INITIAL { ninf = 0.2 n = ninf }
BREAKPOINT {
    ninf = 1/(1 + exp(-(v + 40)/7))
    SOLVE s METHOD cnexp
    ik = gbar*n*(v - ek)
}
DERIVATIVE s { n' = (ninf - n)/4 }
