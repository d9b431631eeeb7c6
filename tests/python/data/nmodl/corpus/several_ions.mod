NEURON {
    SUFFIX several_ions
    USEION na READ ena WRITE ina
    USEION k READ ek WRITE ik
    NONSPECIFIC_CURRENT il
    RANGE gna, gk, gl
}
PARAMETER {
    gna = 0.08 (S/cm2)
    gk = 0.02 (S/cm2)
    gl = 0.0002 (S/cm2)
    el = -60 (mV)
}
ASSIGNED { v (mV) ena (mV) ek (mV) ina (mA/cm2) ik (mA/cm2) il (mA/cm2) am bm ah bh an bn }
STATE { m h n }
INITIAL {
    speeds(v)
    m = am/(am + bm)
    h = ah/(ah + bh)
    n = an/(an + bn)
}
BREAKPOINT {
    SOLVE all METHOD cnexp
    ina = gna*m^3*h*(v - ena)
    ik = gk*n^4*(v - ek)
    il = gl*(v - el)
}
DERIVATIVE all {
    speeds(v)
    m' = am*(1 - m) - bm*m
    h' = ah*(1 - h) - bh*h
    n' = an*(1 - n) - bn*n
}
PROCEDURE speeds(u) {
    am = 0.36*linexp(u + 33, 3)
    bm = 0.4*linexp(-(u + 42), 20)
    ah = 0.1*linexp(-(u + 55), 6)
    bh = 4.5/(1 + exp(-(u)/10))
    an = 0.02*linexp(u + 30, 10)
    bn = 0.05*linexp(-(u + 60), 10)
}
FUNCTION linexp(x, y) {
    LOCAL z
    z = x/y
    if (fabs(z) < 1e-5) { linexp = y*(1 + z/2) } else { linexp = x/(1 - exp(-z)) }
}
