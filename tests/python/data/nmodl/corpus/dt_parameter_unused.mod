NEURON { SUFFIX dt_parameter_unused USEION k READ ek WRITE ik RANGE gbar }
PARAMETER {
    v (mV)
    dt (ms)
    celsius = 6.3 (degC)
    ek = -77 (mV)
    gbar = 0.003 (S/cm2)
}
STATE { n }
ASSIGNED { ik (mA/cm2) ninf ntau nexp }
INITIAL { rates(v) n = ninf }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*n*(v - ek) }
DERIVATIVE s { rates(v) n' = (ninf - n)/ntau }
PROCEDURE rates(u) {
    ninf = 1/(1 + exp(-(u + 44)/10))
    ntau = 3
    nexp = 1 - exp(-dt/ntau)
}
