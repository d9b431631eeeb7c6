: an equation that cnexp cannot solve, of a state that nothing reads: the compiler takes derivimplicit for both
NEURON { SUFFIX cnexp_beside_nonlinear USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n w }
INITIAL { n = 0.4 w = 0.2 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s {
    n' = (1/(1 + exp(-(v + 50)/9)) - n)/3
    w' = exp(-w) - w
}
