: a DERIVATIVE block that is solved by sparse
NEURON { SUFFIX sparse_of_derivative USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { p q }
INITIAL { p = 0.3 q = 0.6 }
BREAKPOINT { SOLVE s METHOD sparse ik = gbar*p*(v - ek) }
DERIVATIVE s {
    p' = (q - p)/3
    q' = (1/(1 + exp(-(v + 40)/7)) - q)/8
}
