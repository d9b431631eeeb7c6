NEURON { SUFFIX minus_v_minus USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) vh = -42 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 1/(1 + exp((v - -42)/(-8))) }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = (1/(1 + exp((v - vh)/(-8))) - n)/(0.5 + 9*exp(-((v+50)/30)^2)) }
