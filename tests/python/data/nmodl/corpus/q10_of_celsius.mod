NEURON {
    SUFFIX q10_of_celsius
    USEION k READ ek WRITE ik
    RANGE gbar
    GLOBAL q10, temp
}
PARAMETER {
    gbar = 0.0024 (S/cm2)
    q10 = 2.4
    temp = 22 (degC)
    celsius (degC)
}
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) minf mtau (ms) tadj }
STATE { m }
BREAKPOINT {
    SOLVE states METHOD cnexp
    ik = gbar*m*m*(v - ek)
}
INITIAL {
    tadj = q10^((celsius - temp)/10)
    rates(v)
    m = minf
}
DERIVATIVE states {
    rates(v)
    m' = (minf - m)/mtau
}
PROCEDURE rates(v (mV)) {
    minf = 1/(1 + exp((-v - 30)/10))
    mtau = (2 + 9/(1 + exp((v + 45)/14)))/tadj
}
