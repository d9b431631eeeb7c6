NEURON { SUFFIX conductance_hint USEION k READ ek WRITE ik RANGE gbar, g }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) g (S/cm2) }
STATE { n }
INITIAL { n = inf(v) }
BREAKPOINT {
    CONDUCTANCE g USEION k
    SOLVE s METHOD cnexp
    g = gbar*n
    ik = g*(v - ek)
}
DERIVATIVE s { n' = (inf(v) - n)/6 }
FUNCTION inf(u (mV)) { inf = 1/(1 + exp(-(u + 40)/7)) }
