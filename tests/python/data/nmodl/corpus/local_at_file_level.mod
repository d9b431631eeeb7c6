NEURON { SUFFIX local_at_file_level USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.002 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) ninf ntau }
STATE { n }
LOCAL factor, other
INITIAL {
    factor = 2.5
    rates(v)
    n = ninf
}
BREAKPOINT { SOLVE states METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE states {
    rates(v)
    n' = (ninf - n)/ntau
}
PROCEDURE rates(u) {
    other = factor*(u + 33)
    ninf = 1/(1 + exp(-other/20))
    ntau = 7/factor
}
