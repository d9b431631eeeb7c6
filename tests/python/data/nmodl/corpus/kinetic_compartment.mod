NEURON { SUFFIX kinetic_compartment USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) big = 3 small = 0.5 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { p q }
INITIAL { p = 0.3 q = 0.9 }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*p*q*(v - ek) }
KINETIC kin {
    COMPARTMENT big { p }
    COMPARTMENT small { q }
    ~ p <-> q (0.2*exp((v + 50)/30), 0.1)
}
