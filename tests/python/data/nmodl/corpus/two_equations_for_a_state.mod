: the compiler keeps both, and runs one after the other
NEURON { SUFFIX two_equations_for_a_state USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.002 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 0.5 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s {
    n' = (0.9 - n)/4
    n' = (0.1 - n)/9
}
