: the steady state of a scheme from linear equations
NEURON { SUFFIX linear_initial_scheme USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) up down }
STATE { C O I }
INITIAL { rates(v) SOLVE seq }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*O*(v - ek) }
KINETIC kin {
    rates(v)
    ~ C <-> O (up, down)
    ~ O <-> I (0.2, 0.05)
    CONSERVE C + O + I = 1
}
LINEAR seq {
    ~ O*down - C*up = 0
    ~ O*0.2 - I*0.05 = 0
    ~ C + O + I = 1
}
PROCEDURE rates(u) { up = 0.3*exp((u + 40)/20) down = 0.2*exp(-(u + 40)/20) }
