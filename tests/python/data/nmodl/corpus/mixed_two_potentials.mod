: two procedures that share a LOCAL name, and an else branch that assigns other names
NEURON { SUFFIX mixed_two_potentials NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) one two }
BREAKPOINT {
    LOCAL x
    x = 3
    first()
    second()
    if (one > two) { x = one } else { two = two + 1 }
    i = g*(x + two)*(v + 60)/10
}
PROCEDURE first() { LOCAL x x = 5 one = x/10 }
PROCEDURE second() { LOCAL x x = 9 two = x/10 }
