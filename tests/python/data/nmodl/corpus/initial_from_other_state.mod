NEURON { SUFFIX initial_from_other_state USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.002 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n h }
INITIAL { n = 1/(1 + exp(-(v + 35)/9)) h = 1 - n }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*h*(v - ek) }
DERIVATIVE s {
    n' = (1/(1 + exp(-(v + 35)/9)) - n)/3
    h' = (1/(1 + exp((v + 55)/9)) - h)/25
}
