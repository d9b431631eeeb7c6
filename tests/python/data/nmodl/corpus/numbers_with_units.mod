NEURON { SUFFIX numbers_with_units USEION k READ ek WRITE ik RANGE gbar }
UNITS { (mV) = (millivolt) (mA) = (milliamp) (S) = (siemens) (um) = (micron) }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 1/(1 + exp(-(v + 36(mV))/8(mV))) }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek)*(1) }
DERIVATIVE s { n' = (1/(1 + exp(-(v + 36(mV))/8(mV))) - n)/(9(ms)) }
