: the same in the form of a driving force in mV
NEURON { SUFFIX ghk_driving_force USEION ca READ cai, cao WRITE ica RANGE gbar }
PARAMETER { gbar = 0.0003 (S/cm2) celsius = 30 (degC) }
ASSIGNED { v (mV) cai (mM) cao (mM) ica (mA/cm2) }
STATE { m h }
INITIAL { m = 1/(1 + exp(-(v + 40)/7)) h = 1/(1 + exp((v + 65)/6)) }
BREAKPOINT { SOLVE s METHOD cnexp ica = gbar*m*m*h*drivef(v, cai, cao) }
DERIVATIVE s {
    m' = (1/(1 + exp(-(v + 40)/7)) - m)/2
    h' = (1/(1 + exp((v + 65)/6)) - h)/25
}
FUNCTION drivef(u, ci, co) {
    LOCAL nu, f
    f = kt(celsius)/2
    nu = u/f
    drivef = -f*(1 - (ci/co)*exp(nu))*fun(nu)
}
FUNCTION kt(c (degC)) (mV) { kt = (25./293.15)*(c + 273.15) }
FUNCTION fun(z) {
    if (fabs(z) < 1e-4) { fun = 1 - z/2 } else { fun = z/(exp(z) - 1) }
}
