NEURON {
    SUFFIX tau_inf_plain
    USEION k READ ek WRITE ik
    RANGE gkbar, ninf, taun
}
UNITS { (mA) = (milliamp) (mV) = (millivolt) }
PARAMETER { gkbar = 0.002 (mho/cm2) }
STATE { n }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) ninf taun (ms) }
BREAKPOINT {
    SOLVE relax METHOD cnexp
    ik = gkbar*n*n*n*n*(v - ek)
}
INITIAL { settle(v) n = ninf }
DERIVATIVE relax { settle(v) n' = (ninf - n)/taun }
PROCEDURE settle(w (mV)) {
    ninf = 1/(1 + exp(-(w + 28)/9))
    taun = 1.5 + 14/(1 + exp((w + 33)/12))
}
