TITLE Squid axon, for tests: written from the equations of Hodgkin and Huxley (1952)

COMMENT
Potentials are as they are written today, with the rest at -65 mV.
ENDCOMMENT

UNITS {
    (mA) = (milliamp)
    (mV) = (millivolt)
    (S) = (siemens)
}

NEURON {
    SUFFIX squid
    USEION na READ ena WRITE ina
    USEION k READ ek WRITE ik
    NONSPECIFIC_CURRENT il
    RANGE gnabar, gkbar, gl, el
    GLOBAL minf, hinf, ninf, mtau, htau, ntau
    THREADSAFE
}

PARAMETER {
    gnabar = 0.12 (S/cm2) <0, 1e9>   : sodium
    gkbar = 0.036 (S/cm2) <0, 1e9>   ? potassium
    gl = .0003 (S/cm2) <0, 1e9>
    el = -54.3 (mV)
    celsius = 6.3 (degC)
}

STATE {
    m h n
}

ASSIGNED {
    v (mV)
    ena (mV)
    ek (mV)
    ina (mA/cm2)
    ik (mA/cm2)
    il (mA/cm2)
    minf
    hinf
    ninf
    mtau (ms)
    htau (ms)
    ntau (ms)
}

INITIAL {
    rates(v)
    m = minf
    h = hinf
    n = ninf
}

BREAKPOINT {
    LOCAL gna, gk
    SOLVE gating METHOD cnexp
    gna = gnabar*m^3*h
    ina = gna*(v - ena)
    gk = gkbar*n*n*n*n
    ik = gk*(v - ek)
    il = gl*(v - el)
}

DERIVATIVE gating {
    rates(v)
    m' = (minf - m)/mtau
    h' = (hinf - h)/htau
    n' = (ninf - n)/ntau
}

PROCEDURE rates(u (mV)) {
    LOCAL alpha, beta, q10
    TABLE minf, mtau, hinf, htau, ninf, ntau DEPEND celsius FROM -100 TO 100 WITH 200
    UNITSOFF
    q10 = 3^((celsius - 6.3)/10)
    alpha = 0.1*linexp(-(u + 40), 10)
    beta = 4*exp(-(u + 65)/18)
    mtau = 1/(q10*(alpha + beta))
    minf = alpha/(alpha + beta)
    alpha = 0.07*exp(-(u + 65)/20)
    beta = 1/(exp(-(u + 35)/10) + 1)
    htau = 1/(q10*(alpha + beta))
    hinf = alpha/(alpha + beta)
    alpha = 0.01*linexp(-(u + 55), 10)
    beta = 0.125*exp(-(u + 65)/80)
    ntau = 1/(q10*(alpha + beta))
    ninf = alpha/(alpha + beta)
    UNITSON
}

FUNCTION linexp(x (mV), y (mV)) (mV) {
    IF (fabs(x/y) < 1e-6) {
        linexp = y*(1 - x/y/2)
    } ELSE {
        linexp = x/(exp(x/y) - 1)
    }
}
