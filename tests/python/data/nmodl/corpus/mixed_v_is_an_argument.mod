: the argument has the name of the potential
NEURON { SUFFIX mixed_v_is_an_argument USEION k READ ek WRITE ik RANGE gbar, shift }
PARAMETER { gbar = 0.003 (S/cm2) shift = 12 (mV) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) ninf }
STATE { n }
INITIAL { rates(v) n = ninf }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { rates(v + shift) n' = (ninf - n)/4 }
PROCEDURE rates(v (mV)) { ninf = 1/(1 + exp(-(v + 40)/7)) }
