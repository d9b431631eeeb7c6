NEURON { SUFFIX diameter_and_area NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) diam (um) area (um2) }
BREAKPOINT { i = g*(diam/10 + area/1000)*(v + 48) }
