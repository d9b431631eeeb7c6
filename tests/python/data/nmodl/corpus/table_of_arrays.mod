NEURON { SUFFIX table_of_arrays USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) inf[2] tau[2] }
STATE { m h }
INITIAL { mh(v) m = inf[0] h = inf[1] }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*m*h*(v - ek) }
DERIVATIVE s { mh(v) m' = (inf[0] - m)/tau[0] h' = (inf[1] - h)/tau[1] }
PROCEDURE mh(u) {
    TABLE inf, tau FROM -100 TO 100 WITH 200
    FROM j = 0 TO 1 {
        inf[j] = 1/(1 + exp(-(u + 50 - 10*j)*(1 - 2*j)/8))
        tau[j] = 2 + 20*j
    }
}
