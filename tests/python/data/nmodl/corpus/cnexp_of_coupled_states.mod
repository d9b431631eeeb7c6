: linear and other equations of states that depend on each other: cnexp advances one after the other
NEURON { SUFFIX cnexp_of_coupled_states USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { a b c }
INITIAL { a = 0.4 b = 0.2 c = 0.7 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*b*c*(v - ek) }
DERIVATIVE s {
    a' = (1/(1 + exp(-(v + 50)/9)) + b - 2*a)/0.7
    b' = (a - b)/0.4
    c' = (1/(1 + exp(-a)) - c*b)/0.9
}
