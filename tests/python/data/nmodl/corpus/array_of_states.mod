DEFINE N 3
NEURON { SUFFIX array_of_states USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) inf[N] tau[N] }
STATE { m h }
INITIAL { mhn(v) m = inf[0] h = inf[1] }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*m*h*(v - ek) }
DERIVATIVE s {
    mhn(v)
    m' = (inf[0] - m)/tau[0]
    h' = (inf[1] - h)/tau[1]
}
PROCEDURE mhn(u) {
    FROM i = 0 TO N - 2 {
        tau[i] = 3*(i + 1)
        inf[i] = 1/(1 + exp((u + 40)*(2*i - 1)/9))
    }
}
