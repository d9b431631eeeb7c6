: BREAKPOINT bounds the state
NEURON { SUFFIX mixed_state_assigned_in_breakpoint USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { p }
INITIAL { p = 0.3 }
BREAKPOINT {
    SOLVE s METHOD cnexp
    if (p > 0.5) { p = 0.5 }
    ik = gbar*p*(v - ek)
}
DERIVATIVE s { p' = (1/(1 + exp(-(v + 50)/7)) - p)/4 }
