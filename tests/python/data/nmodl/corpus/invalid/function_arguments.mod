NEURON { SUFFIX function_arguments NONSPECIFIC_CURRENT i }
PARAMETER { g = 0.001 }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*f(v, 2)*(v + 48) }
FUNCTION f(x) { f = x }
