: a state in mM, far from 0 to 1
NEURON { SUFFIX state_not_a_gate USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.00002 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { amount (mM) }
INITIAL { amount = 30 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*amount*(v - ek) }
DERIVATIVE s { amount' = (v + 100)*0.9 - amount/6 }
