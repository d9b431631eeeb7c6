NEURON { SUFFIX kinetic_two_states USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) a (/ms) b (/ms) }
STATE { c o }
INITIAL { SOLVE kin STEADYSTATE sparse }
BREAKPOINT {
    SOLVE kin METHOD sparse
    ik = gbar*o*(v - ek)
}
KINETIC kin {
    rates(v)
    ~ c <-> o (a, b)
    CONSERVE c + o = 1
}
PROCEDURE rates(u (mV)) {
    a = 0.2*exp((u + 40)/18)
    b = 0.15*exp(-(u + 40)/30)
}
