: the shape of rates that are fitted without a junction potential
NEURON { SUFFIX shifted_and_restored USEION k READ ek WRITE ik RANGE gbar, g, ik }
UNITS { (S) = (siemens) (mV) = (millivolt) (mA) = (milliamp) }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) g (S/cm2) minf mtau hinf htau }
STATE { m h }
BREAKPOINT {
    SOLVE states METHOD cnexp
    g = gbar*m*m*h
    ik = g*(v - ek)
}
DERIVATIVE states {
    rates()
    m' = (minf - m)/mtau
    h' = (hinf - h)/htau
}
INITIAL {
    rates()
    m = minf
    h = hinf
}
PROCEDURE rates() {
    LOCAL qt
    qt = 2.3^((34 - 21)/10)
    UNITSOFF
    v = v + 10
    minf = 1/(1 + exp(-(v + 1)/12))
    if (v < -50) {
        mtau = (1.25 + 175.03*exp(0.026*v))/qt
    } else {
        mtau = (1.25 + 13*exp(-0.026*v))/qt
    }
    hinf = 1/(1 + exp((v + 54)/11))
    htau = (36 + (101 + 2.4*(v + 55))*exp(-((v + 75)/48)^2))/qt
    v = v - 10
    UNITSON
}
