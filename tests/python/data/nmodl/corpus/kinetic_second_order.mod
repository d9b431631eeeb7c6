: two reactants, so that the rates are not linear
NEURON { SUFFIX kinetic_second_order USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) kon = 0.7 koff = 0.3 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { a b ab }
INITIAL { a = 1 b = 0.8 ab = 0.1 }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*ab*(v - ek) }
KINETIC kin {
    ~ a + b <-> ab (kon, koff*exp(-(v + 60)/25))
}
