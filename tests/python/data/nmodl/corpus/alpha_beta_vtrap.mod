NEURON {
    SUFFIX alpha_beta_vtrap
    USEION na READ ena WRITE ina
    RANGE gmax
    GLOBAL minf, hinf, mtau, htau
    THREADSAFE
}
UNITS { (mV) = (millivolt) (mA) = (milliamp) (S) = (siemens) }
PARAMETER { gmax = 0.01 (S/cm2) }
ASSIGNED {
    v (mV) ena (mV) ina (mA/cm2)
    minf hinf
    mtau (ms) htau (ms)
}
STATE { m h }
INITIAL {
    rates(v)
    m = minf
    h = hinf
}
BREAKPOINT {
    SOLVE states METHOD cnexp
    ina = gmax*m*m*m*h*(v - ena)
}
DERIVATIVE states {
    rates(v)
    m' = (minf - m)/mtau
    h' = (hinf - h)/htau
}
PROCEDURE rates(v (mV)) {
    LOCAL a, b
    a = 0.21*trap(-(v + 36), 7.5)
    b = 0.16*trap(v + 36, 7.5)
    mtau = 1/(a + b)
    minf = a*mtau
    a = 0.03*trap(v + 49, 5.5)
    b = 0.011*trap(-(v + 49), 5.5)
    htau = 1/(a + b)
    hinf = 1/(1 + exp((v + 57)/6.3))
}
FUNCTION trap(x, y) {
    if (fabs(x/y) < 1e-6) {
        trap = y*(1 - x/y/2)
    } else {
        trap = x/(exp(x/y) - 1)
    }
}
