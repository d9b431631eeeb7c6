: a conductance with a weighted sum of two gates
NEURON { SUFFIX gates_added USEION k READ ek WRITE ik RANGE gbar, share }
PARAMETER { gbar = 0.004 (S/cm2) share = 0.3 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { m a b }
INITIAL { m = on(v) a = off(v) b = off(v) }
BREAKPOINT {
    SOLVE s METHOD cnexp
    ik = gbar*m*(share*a + (1 - share)*b)*(v - ek)
}
DERIVATIVE s {
    m' = (on(v) - m)/2
    a' = (off(v) - a)/9
    b' = (off(v) - b)/60
}
FUNCTION on(u) { on = 1/(1 + exp(-(u + 40)/8)) }
FUNCTION off(u) { off = 1/(1 + exp((u + 58)/7)) }
