: cnexp takes names that follow from a state as constants in its equation
NEURON { SUFFIX cnexp_of_assigned_names USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) x tau }
STATE { a b }
INITIAL { a = 0.4 b = 0.2 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*a*b*(v - ek) }
DERIVATIVE s {
    x = a*0.5
    a' = (1/(1 + exp(-(v + 50)/9)) - a - x)/0.7
    rates()
    b' = (a - b)/tau
}
PROCEDURE rates() { tau = 0.3 + b*b }
