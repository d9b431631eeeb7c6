NEURON { SUFFIX mixed_shift_parameter USEION na READ ena WRITE ina RANGE gbar, vshift, vh }
PARAMETER { gbar = 0.01 (S/cm2) vshift = -8 (mV) vh = 3 (mV) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) minf hinf mtau htau }
STATE { m h }
INITIAL { trates(v + vshift) m = minf h = hinf }
BREAKPOINT { SOLVE states METHOD cnexp ina = gbar*m*m*m*h*(v - ena) }
DERIVATIVE states { trates(v + vshift) m' = (minf - m)/mtau h' = (hinf - h)/htau }
PROCEDURE trates(vm) {
    LOCAL a, b
    a = trap0(vm, -32, 0.2, 8)
    b = trap0(-vm, 32, 0.14, 8)
    mtau = 1/(a + b)
    minf = a/(a + b)
    a = trap0(vm, -48, 0.03, 5)
    b = trap0(-vm, 70, 0.01, 5)
    htau = 1/(a + b)
    hinf = 1/(1 + exp((vm + 60 - vh)/6))
}
FUNCTION trap0(u, th, a, q) {
    if (fabs(u - th) > 1e-6) {
        trap0 = a*(u - th)/(1 - exp(-(u - th)/q))
    } else {
        trap0 = a*q
    }
}
