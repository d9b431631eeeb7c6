NEURON { POINT_PROCESS point_ampa_nmda RANGE ratio, i, iampa, inmda NONSPECIFIC_CURRENT i }
PARAMETER { ratio = 0.7 e = 0 (mV) }
ASSIGNED { v (mV) i (nA) iampa (nA) inmda (nA) }
STATE { a (uS) n (uS) }
INITIAL { a = 0 n = 0 }
BREAKPOINT {
    SOLVE state METHOD cnexp
    iampa = a*(v - e)
    inmda = n*(v - e)/(1 + exp(-0.08*(v + 20)))
    i = iampa + inmda
}
DERIVATIVE state { a' = -a/1.8 n' = -n/60 }
NET_RECEIVE(weight (uS)) { a = a + weight n = n + weight*ratio }
