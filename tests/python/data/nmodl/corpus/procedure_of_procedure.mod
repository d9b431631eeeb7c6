NEURON { SUFFIX procedure_of_procedure USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) ninf ntau q }
STATE { n }
INITIAL { all(v) n = ninf }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*n*(v - ek) }
DERIVATIVE s { all(v) n' = (ninf - n)/ntau }
PROCEDURE all(u) { scale() ends(u) }
PROCEDURE scale() { q = 1.7 }
PROCEDURE ends(u) { ninf = 1/(1 + exp(-(u + 36)/8)) ntau = 9/q }
