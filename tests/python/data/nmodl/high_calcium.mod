: Calcium current of high voltages, for tests: written from the equations of I. Reuveni et al. (1993)

NEURON {
    SUFFIX high_calcium
    USEION ca READ eca WRITE ica VALENCE 2
    RANGE gbar
}

UNITS { (mV) = (millivolt) (mA) = (milliamp) (S) = (siemens) }

PARAMETER { gbar = 0.0001 (S/cm2) }

ASSIGNED { v (mV) eca (mV) ica (mA/cm2) }

STATE { m h }

INITIAL {
    m = up(v)/(up(v) + 0.94*exp(-(v + 75)/17))
    h = 0.000457*exp(-(v + 13)/50)/(0.000457*exp(-(v + 13)/50) + 0.0065/(1 + exp(-(v + 15)/28)))
}

BREAKPOINT {
    SOLVE gates METHOD cnexp
    ica = gbar*m^2*h*(v - eca)
}

DERIVATIVE gates {
    m' = up(v)*(1 - m) - 0.94*exp(-(v + 75)/17)*m
    h' = 0.000457*exp(-(v + 13)/50)*(1 - h) - 0.0065/(1 + exp(-(v + 15)/28))*h
}

FUNCTION up(u (mV)) (/ms) {
    up = 0.055*3.8*exprelr(-(u + 27)/3.8)
}
