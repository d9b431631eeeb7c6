NEURON { SUFFIX potassium_and_nonspecific USEION na READ ena WRITE ina USEION k READ ek WRITE ik RANGE ghcn, fraction }
PARAMETER { ghcn = 0.0008 (S/cm2) fraction = 0.35 }
ASSIGNED { v (mV) ena (mV) ek (mV) ina (mA/cm2) ik (mA/cm2) }
STATE { q }
INITIAL { q = qinf(v) }
BREAKPOINT {
    SOLVE s METHOD cnexp
    ina = fraction*ghcn*q*(v - ena)
    ik = (1 - fraction)*ghcn*q*(v - ek)
}
DERIVATIVE s { q' = (qinf(v) - q)/(20 + 80*exp(-((v + 70)/22)^2)) }
FUNCTION qinf(u) { qinf = 1/(1 + exp((u + 82)/9)) }
