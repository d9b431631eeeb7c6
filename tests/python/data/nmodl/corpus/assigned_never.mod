: read, but given no value anywhere: 0
NEURON { SUFFIX assigned_never NONSPECIFIC_CURRENT i RANGE g, extra }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) extra }
BREAKPOINT { i = (g + extra)*(v + 43) }
