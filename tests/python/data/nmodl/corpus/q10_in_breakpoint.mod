NEURON { SUFFIX q10_in_breakpoint USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) celsius = 25 (degC) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) qt }
STATE { w }
INITIAL {
    qt = 2.9^((celsius - 20)/10)
    w = winf(v)
}
BREAKPOINT {
    qt = 2.9^((celsius - 20)/10)
    SOLVE one METHOD cnexp
    ik = gbar*w*(v - ek)
}
DERIVATIVE one {
    w' = (winf(v) - w)*qt/tw(v)
}
FUNCTION winf(x) { winf = 1/(1 + exp(-(x + 34)/6.6)) }
FUNCTION tw(x) { tw = 30/(3.3*exp((x + 35)/20) + exp(-(x + 35)/20)) }
