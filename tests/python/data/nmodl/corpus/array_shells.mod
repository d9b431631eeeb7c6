: diffusion between shells of states
DEFINE NSHELL 4
NEURON { SUFFIX array_shells USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) D = 0.2 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { c[NSHELL] }
INITIAL { FROM i = 0 TO NSHELL - 1 { c[i] = 0.1*i } }
BREAKPOINT { SOLVE s METHOD sparse ik = gbar*c[0]*(v - ek) }
KINETIC s {
    FROM i = 0 TO NSHELL - 2 { ~ c[i] <-> c[i+1] (D, D) }
    ~ c[NSHELL - 1] << (0.1/(1 + exp(-(v + 50)/9)))
    ~ c[0] -> (0.1)
}
