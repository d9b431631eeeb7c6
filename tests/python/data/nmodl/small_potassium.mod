: Potassium current that calcium opens, for tests: written from the equations of M. Koehler et al. (1996)

NEURON {
    SUFFIX small_potassium
    USEION k READ ek WRITE ik
    USEION ca READ cai
    RANGE gbar
}

PARAMETER {
    gbar = 0.001 (S/cm2)
    ek = -85 (mV)
    cai = 50e-6 (mM)
    half = 0.00043 (mM)
}

ASSIGNED { v (mV) ik (mA/cm2) zinf }

STATE { z }

INITIAL {
    rates(cai)
    z = zinf
}

BREAKPOINT {
    SOLVE gates METHOD cnexp
    ik = gbar*z*(v - ek)
}

DERIVATIVE gates {
    rates(cai)
    z' = (zinf - z)/1
}

PROCEDURE rates(calcium (mM)) {
    zinf = 1/(1 + (half/calcium)^4.8)
}
