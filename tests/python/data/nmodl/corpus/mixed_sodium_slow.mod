: a third gate of slow inactivation, bounded twice
NEURON { SUFFIX mixed_sodium_slow USEION na READ ena WRITE ina RANGE gbar, ar2 GLOBAL smax }
PARAMETER { gbar = 0.02 (S/cm2) ar2 = 0.6 smax = 25 (ms) zeta = 9 celsius (degC) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) minf hinf sinf mtau htau stau }
STATE { m h s }
INITIAL { trates(v, ar2) m = minf h = hinf s = sinf }
BREAKPOINT { SOLVE states METHOD cnexp ina = gbar*m*m*m*h*s*(v - ena) }
DERIVATIVE states {
    trates(v, ar2)
    m' = (minf - m)/mtau
    h' = (hinf - h)/htau
    s' = (sinf - s)/stau
}
FUNCTION alpv(u) { alpv = 1/(1 + exp((u + 58)/2)) }
FUNCTION alps(u) { alps = exp(1e-3*zeta*(u + 60)*9.648e4/(8.315*(273.16 + celsius))) }
FUNCTION bets(u) { bets = exp(1e-3*zeta*0.2*(u + 60)*9.648e4/(8.315*(273.16 + celsius))) }
PROCEDURE trates(u, a2) {
    LOCAL c
    minf = 1/(1 + exp(-(u + 35)/7))
    mtau = 0.3/(1 + exp((u + 40)/9))
    if (mtau < 0.02) { mtau = 0.02 }
    hinf = 1/(1 + exp((u + 52)/4))
    htau = 12/(1 + exp((u + 50)/7))
    if (htau < 0.5) { htau = 0.5 }
    c = alpv(u)
    sinf = c + a2*(1 - c)
    stau = bets(u)/(0.0003*(1 + alps(u)))
    if (stau < 10) { stau = 10 }
    if (stau > smax) { stau = smax }
}
