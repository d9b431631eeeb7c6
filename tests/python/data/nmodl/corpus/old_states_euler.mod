: an explicit step of Euler, written out
NEURON { SUFFIX old_states_euler USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { v (mV) dt (ms) gbar = 0.004 (S/cm2) ek (mV) }
STATE { n }
ASSIGNED { ik (mA/cm2) inf }
INITIAL { inf = 1/(1 + exp(-(v + 40)/9)) n = inf }
BREAKPOINT { SOLVE states ik = gbar*n*(v - ek) }
PROCEDURE states() {
    inf = 1/(1 + exp(-(v + 40)/9))
    n = n + dt*(inf - n)/5
}
