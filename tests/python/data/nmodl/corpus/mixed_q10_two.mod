: gates with temperature factors of their own
NEURON { SUFFIX mixed_q10_two USEION k READ ek WRITE ik RANGE gbar GLOBAL q10m, q10h, qg }
PARAMETER { gbar = 0.004 (S/cm2) q10m = 2.1 q10h = 3.3 qg = 1.4 celsius (degC) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) minf hinf mtau htau gq }
STATE { m h }
INITIAL { gq = qg^((celsius - 23)/10) rates(v) m = minf h = hinf }
BREAKPOINT { SOLVE s METHOD cnexp ik = gq*gbar*m*h*(v - ek) }
DERIVATIVE s { rates(v) m' = (minf - m)/mtau h' = (hinf - h)/htau }
PROCEDURE rates(u) {
    minf = 1/(1 + exp(-(u + 40)/8))
    hinf = 1/(1 + exp((u + 60)/8))
    mtau = 4/q10m^((celsius - 23)/10)
    htau = 40/q10h^((celsius - 23)/10)
}
