NEURON { SUFFIX verbatim_include NONSPECIFIC_CURRENT i RANGE g }
VERBATIM
#include <math.h>
ENDVERBATIM
PARAMETER { g = 0.0007 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 51) }
