NEURON { SUFFIX rectifier USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
BREAKPOINT { ik = gbar*(v - ek)/(1 + exp((v - ek - 12)/9)) }
