: states that are in no reaction, or that no current depends on
NEURON { SUFFIX kinetic_with_idle_states USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { c o idle other }
INITIAL { c = 0.8 o = 0.2 idle = 0.59 other = 0.3 }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*o*(v - ek) }
KINETIC kin {
    ~ c <-> o (0.2*exp((v + 40)/25), 0.1)
    ~ other -> (0.05)
}
