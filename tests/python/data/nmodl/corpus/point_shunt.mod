NEURON { POINT_PROCESS point_shunt RANGE r, e, i NONSPECIFIC_CURRENT i }
PARAMETER { r = 0.3 (gigaohm) <1e-9, 1e9> e = -20 (mV) }
ASSIGNED { v (mV) i (nA) }
BREAKPOINT { i = (0.001)*(v - e)/r }
