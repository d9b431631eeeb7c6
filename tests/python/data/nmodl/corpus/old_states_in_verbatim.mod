NEURON { SUFFIX old_states_in_verbatim USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { v (mV) dt (ms) gbar = 0.004 (S/cm2) ek (mV) }
STATE { n }
ASSIGNED { ik (mA/cm2) inf tau nfac }
INITIAL { rates(v) n = inf }
BREAKPOINT { SOLVE states ik = gbar*n*(v - ek) }
PROCEDURE states() {
    rates(v)
    n = n + nfac*(inf - n)
    VERBATIM
    return 0;
    ENDVERBATIM
}
PROCEDURE rates(u) {
    inf = 1/(1 + exp(-(u + 40)/9))
    tau = 4 + 8/(1 + exp((u + 40)/9))
    nfac = 1 - exp(-dt/tau)
}
