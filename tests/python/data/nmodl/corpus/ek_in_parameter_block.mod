: the ion's potential, whatever stands here
NEURON { SUFFIX ek_in_parameter_block USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.001 (S/cm2) ek = -95 (mV) }
ASSIGNED { v (mV) ik (mA/cm2) }
BREAKPOINT { ik = gbar*(v - ek) }
