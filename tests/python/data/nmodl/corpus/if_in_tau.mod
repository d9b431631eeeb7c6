NEURON { SUFFIX if_in_tau USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) minf mtau hinf htau }
STATE { m h }
INITIAL { rates() m = minf h = hinf }
BREAKPOINT {
    SOLVE states METHOD cnexp
    ik = gbar*m^4*h*(v - ek)
}
DERIVATIVE states {
    rates()
    m' = (minf - m)/mtau
    h' = (hinf - h)/htau
}
PROCEDURE rates() {
    minf = 1/(1 + exp(-(v + 46)/8.6))
    hinf = 1/(1 + exp((v + 71)/5.5))
    mtau = 0.4 + 1/(exp((v + 36)/20) + exp(-(v + 80)/13))
    if (v < -61) {
        htau = 1/(exp((v + 46)/5) + exp(-(v + 240)/38))
    } else {
        htau = 19
    }
}
