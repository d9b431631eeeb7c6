NEURON { SUFFIX nudged_at_singularity USEION na READ ena WRITE ina RANGE gbar }
PARAMETER { gbar = 0.01 (S/cm2) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) minf mtau ma mb }
STATE { m }
BREAKPOINT { SOLVE states METHOD cnexp ina = gbar*m*m*m*(v - ena) }
DERIVATIVE states { rates() m' = (minf - m)/mtau }
INITIAL { rates() m = minf }
PROCEDURE rates() {
    if (v == -38) {
        v = v + 0.0001
    }
    ma = (0.18*(v + 38))/(1 - exp(-(v + 38)/6))
    mb = (0.12*(-v - 38))/(1 - exp(-(-v - 38)/6))
    mtau = 1/(ma + mb)
    minf = ma/(ma + mb)
}
