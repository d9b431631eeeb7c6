NEURON { SUFFIX ena_in_parameter_block USEION na READ ena WRITE ina }
PARAMETER { gbar = 0.0003 (S/cm2) ena = 115 (mV) v (mV) }
ASSIGNED { ina (mA/cm2) }
BREAKPOINT { ina = gbar*(v - ena) }
