: a reactant with a coefficient
NEURON { SUFFIX kinetic_two_of_one USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { x x2 }
INITIAL { x = 1 x2 = 0.2 }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*x2*(v - ek) }
KINETIC kin {
    ~ 2 x <-> x2 (0.5, 0.4*exp(-(v + 60)/25))
}
