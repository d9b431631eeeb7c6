: with a source and a sink
NEURON { SUFFIX kinetic_one_way USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.0005 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { m }
INITIAL { m = 1 }
BREAKPOINT { SOLVE kin METHOD sparse ik = gbar*m*(v - ek) }
KINETIC kin {
    ~ m << (0.4/(1 + exp(-(v + 50)/8)))
    ~ m -> (0.11)
}
