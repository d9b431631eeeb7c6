NEURON { SUFFIX calcium_current USEION ca READ eca WRITE ica RANGE gbar }
PARAMETER { gbar = 0.0004 (S/cm2) }
ASSIGNED { v (mV) eca (mV) ica (mA/cm2) }
STATE { m h }
INITIAL { m = 1/(1 + exp(-(v + 34)/7)) h = 1/(1 + exp((v + 57)/8)) }
BREAKPOINT { SOLVE s METHOD cnexp ica = gbar*m^2*h*(v - eca) }
DERIVATIVE s {
    m' = (1/(1 + exp(-(v + 34)/7)) - m)/1.4
    h' = (1/(1 + exp((v + 57)/8)) - h)/30
}
