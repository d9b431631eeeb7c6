NEURON { SUFFIX kinetic_four_of_calcium USEION ca READ cai USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.01 (S/cm2) f = 200 b = 0.08 }
ASSIGNED { v (mV) cai (mM) ek (mV) ik (mA/cm2) k1 k2 }
STATE { c1 c2 c3 o1 }
INITIAL { prepare(cai/(1)) SOLVE kin STEADYSTATE sparse }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*o1*(v - ek) }
KINETIC kin {
    prepare(cai)
    ~ c1 <-> c2 (k1, b)
    ~ c2 <-> c3 (k2, b)
    ~ c3 <-> o1 (0.16, 1)
    CONSERVE c1 + c2 + c3 + o1 = 1
}
PROCEDURE prepare(x) { k1 = f*x k2 = 0.7*f*x }
