NEURON { SUFFIX tau_bounded_below USEION k READ ek WRITE ik RANGE gbar GLOBAL tmin }
PARAMETER { gbar = 0.002 (S/cm2) tmin = 0.7 (ms) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) minf mtau (ms) }
STATE { m }
INITIAL { trates(v) m = minf }
BREAKPOINT {
    SOLVE states METHOD cnexp
    ik = gbar*m*(v - ek)
}
DERIVATIVE states {
    trates(v)
    m' = (minf - m)/mtau
}
PROCEDURE trates(u) {
    LOCAL a, b
    a = exp(0.09*(u + 38))
    b = exp(-0.06*(u + 38))
    minf = a/(a + b)
    mtau = 1.8/(a + b)
    if (mtau < tmin) { mtau = tmin }
}
