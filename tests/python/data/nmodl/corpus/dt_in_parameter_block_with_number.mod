: dt is that of the run, whatever stands here
NEURON { SUFFIX dt_in_parameter_block_with_number NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) dt = 2 (ms) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 43)/(1 + dt) }
