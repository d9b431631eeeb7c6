NEURON { SUFFIX tau_bounded_both USEION na READ ena WRITE ina RANGE gbar GLOBAL mmin, mmax }
PARAMETER { gbar = 0.006 (S/cm2) mmin = 0.06 mmax = 1.3 }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) minf mtau (ms) hinf htau (ms) }
STATE { m h }
INITIAL { rates(v) m = minf h = hinf }
BREAKPOINT {
    SOLVE states METHOD cnexp
    ina = gbar*m*m*m*h*(v - ena)
}
DERIVATIVE states {
    rates(v)
    m' = (minf - m)/mtau
    h' = (hinf - h)/htau
}
PROCEDURE rates(u) {
    LOCAL a, b
    a = 0.4*exp((u + 38)/11)
    b = 0.4*exp(-(u + 38)/11)
    mtau = 1/(a + b)
    IF (mtau < mmin) { mtau = mmin }
    IF (mtau > mmax) { mtau = mmax }
    minf = a/(a + b)
    hinf = 1/(1 + exp((u + 55)/5))
    htau = 0.4 + 11/(1 + exp((u + 60)/8))
    if (htau < 1.2) {
        htau = 1.2
    }
}
