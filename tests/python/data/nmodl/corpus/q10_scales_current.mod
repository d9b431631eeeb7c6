NEURON {
    SUFFIX q10_scales_current
    USEION na READ ena WRITE ina
    RANGE gbar, shift
}
PARAMETER {
    gbar = 0.004 (S/cm2)
    shift = -4 (mV)
}
ASSIGNED { v (mV) celsius (degC) ena (mV) ina (mA/cm2) tcorr minf mtau hinf htau }
STATE { m h }
INITIAL {
    tcorr = 3^((celsius - 24)/10)
    go(v + shift)
    m = minf
    h = hinf
}
BREAKPOINT {
    SOLVE states METHOD cnexp
    ina = tcorr*gbar*m^3*h*(v - ena)
}
DERIVATIVE states {
    go(v + shift)
    m' = (minf - m)/mtau
    h' = (hinf - h)/htau
}
PROCEDURE go(u) {
    LOCAL up, down
    up = 0.3*exp((u + 35)/12)
    down = 0.25*exp(-(u + 35)/14)
    mtau = 1/(up + down)/tcorr
    minf = up/(up + down)
    hinf = 1/(1 + exp((u + 60)/7))
    htau = (0.9 + 8/(1 + exp((u + 50)/9)))/tcorr
}
