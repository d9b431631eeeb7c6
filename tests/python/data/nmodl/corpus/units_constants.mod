NEURON { SUFFIX units_constants USEION k READ ek WRITE ik RANGE gbar GLOBAL vhalf, zeta }
UNITS {
    (mA) = (milliamp)
    (mV) = (millivolt)
    F = (faraday) (coulomb)
    R = (k-mole) (joule/degC)
}
PARAMETER { gbar = 0.003 (S/cm2) vhalf = -42 (mV) zeta = 3.1 celsius (degC) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) ninf ntau }
STATE { n }
INITIAL { rates(v) n = ninf }
BREAKPOINT { SOLVE states METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE states { rates(v) n' = (ninf - n)/ntau }
FUNCTION slope(u (mV)) { slope = exp(1e-3*zeta*(u - vhalf)*F/(R*(273.15 + celsius))) }
PROCEDURE rates(u (mV)) {
    LOCAL x
    x = slope(u)
    ninf = x/(1 + x)
    ntau = 12*sqrt(x)/(1 + x) + 0.5
}
