NEURON { SUFFIX function_of_function NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { q }
INITIAL { q = outer(v, 9) }
BREAKPOINT { SOLVE s METHOD cnexp i = g*q*(v + 35) }
DERIVATIVE s { q' = (outer(v, 9) - q)/inner(3) }
FUNCTION outer(u (mV), w (mV)) { outer = 1/(1 + inner(exp(-(u + 44)/w))) }
FUNCTION inner(x) { inner = x*1 }
