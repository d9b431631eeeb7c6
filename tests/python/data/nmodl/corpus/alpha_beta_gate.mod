: one gate, with opening and closing rates in functions
NEURON {
    SUFFIX alpha_beta_gate
    USEION k READ ek WRITE ik
    RANGE gbar, g
}
UNITS {
    (mV) = (millivolt)
    (mA) = (milliamp)
    (S) = (siemens)
}
PARAMETER {
    gbar = 0.003 (S/cm2)
}
ASSIGNED {
    v (mV)
    ek (mV)
    ik (mA/cm2)
    g (S/cm2)
}
STATE { n }
BREAKPOINT {
    SOLVE states METHOD cnexp
    g = gbar*n
    ik = g*(v - ek)
}
INITIAL {
    n = opening(v)/(opening(v) + closing(v))
}
DERIVATIVE states {
    n' = opening(v)*(1 - n) - closing(v)*n
}
FUNCTION opening(u (mV)) (/ms) {
    opening = 0.12*exp((u + 41(mV))/21(mV))
}
FUNCTION closing(u (mV)) (/ms) {
    closing = 0.09*exp(-(u + 41(mV))/33(mV))
}
