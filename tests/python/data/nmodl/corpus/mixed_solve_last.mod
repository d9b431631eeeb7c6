: the currents stand before SOLVE
NEURON { SUFFIX mixed_solve_last USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { p }
INITIAL { p = 0.3 }
BREAKPOINT {
    ik = gbar*p*(v - ek)
    SOLVE first METHOD cnexp
}
DERIVATIVE first { p' = (1/(1 + exp(-(v + 40)/7)) - p)/4 }
