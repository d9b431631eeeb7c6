: a calcium current, for files that read the concentration or change it
NEURON { SUFFIX companion_entry USEION ca READ eca WRITE ica }
PARAMETER { gbar = 0.0001 (S/cm2) }
ASSIGNED { v (mV) eca (mV) ica (mA/cm2) }
STATE { m }
INITIAL { m = open(v) }
BREAKPOINT { SOLVE s METHOD cnexp ica = gbar*m*(v - eca) }
DERIVATIVE s { m' = (open(v) - m)/2 }
FUNCTION open(u (mV)) { open = 1/(1 + exp(-(u + 40)/9)) }
