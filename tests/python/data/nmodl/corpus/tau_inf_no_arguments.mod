NEURON {
    SUFFIX tau_inf_no_arguments
    NONSPECIFIC_CURRENT ih
    RANGE gh, eh
}
PARAMETER { gh = 0.0006 (S/cm2) eh = -43 (mV) }
ASSIGNED { v (mV) ih (mA/cm2) linf ltau }
STATE { l }
BREAKPOINT {
    SOLVE st METHOD cnexp
    ih = gh*l*(v - eh)
}
INITIAL {
    rates()
    l = linf
}
DERIVATIVE st {
    rates()
    l' = (linf - l)/ltau
}
PROCEDURE rates() {
    linf = 1/(1 + exp((v + 78)/8))
    ltau = 4 + 60/(exp((v + 75)/18) + exp(-(v + 75)/21))
}
