NEURON { SUFFIX kinetic_of_calcium USEION ca READ cai USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) kon = 300 (/mM-ms) koff = 0.06 (/ms) }
ASSIGNED { v (mV) cai (mM) ek (mV) ik (mA/cm2) }
STATE { c o }
INITIAL { SOLVE kin STEADYSTATE sparse }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*o*(v - ek) }
KINETIC kin {
    ~ c <-> o (kon*cai, koff)
    CONSERVE c + o = 1
}
