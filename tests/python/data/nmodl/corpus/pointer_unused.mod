NEURON { SUFFIX pointer_unused NONSPECIFIC_CURRENT i RANGE g EXTERNAL celsius_of_all }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 48) }
