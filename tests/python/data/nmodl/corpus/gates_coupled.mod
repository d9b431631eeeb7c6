: one gate follows another
NEURON { SUFFIX gates_coupled USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { a b }
INITIAL { a = 1/(1 + exp(-(v + 45)/8)) b = a }
BREAKPOINT { SOLVE s METHOD derivimplicit ik = gbar*b*(v - ek) }
DERIVATIVE s {
    a' = (1/(1 + exp(-(v + 45)/8)) - a)/2
    b' = (a - b)/15
}
