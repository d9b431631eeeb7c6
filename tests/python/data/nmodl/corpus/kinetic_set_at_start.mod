: states that INITIAL sets, and no steady state
NEURON { SUFFIX kinetic_set_at_start USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { c1 c2 o }
INITIAL { c1 = 0.6 c2 = 0.3 o = 0.1 }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*o*(v - ek) }
KINETIC kin {
    LOCAL f
    f = exp((v + 45)/20)
    ~ c1 <-> c2 (0.3*f, 0.2/f)
    ~ c2 <-> o (0.2*f, 0.1/f)
    CONSERVE c1 + c2 + o = 1
}
