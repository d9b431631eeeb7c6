NEURON { SUFFIX kinetic_with_if USEION k READ ek WRITE ik RANGE gbar, slow }
PARAMETER { gbar = 0.004 (S/cm2) slow = 1 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) a b }
STATE { c o }
INITIAL { c = 0.8 o = 0.2 }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*o*(v - ek) }
KINETIC kin {
    if (slow > 0) { a = 0.05 } else { a = 0.9 }
    b = 0.1
    if (v > -50) { b = 0.02 }
    ~ c <-> o (a, b)
}
