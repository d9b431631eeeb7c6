: ek here is no variable of an ion
NEURON { SUFFIX ion_own_name_of_potential USEION k WRITE ik RANGE gbar, ek }
PARAMETER { gbar = 0.001 (S/cm2) ek = -91 (mV) }
ASSIGNED { v (mV) ik (mA/cm2) }
BREAKPOINT { ik = gbar*(v - ek) }
