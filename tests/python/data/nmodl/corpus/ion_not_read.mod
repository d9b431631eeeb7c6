: writes a current, with a potential of its own
NEURON { SUFFIX ion_not_read USEION k WRITE ik RANGE gbar, erev }
PARAMETER { gbar = 0.001 (S/cm2) erev = -88 (mV) }
ASSIGNED { v (mV) ik (mA/cm2) }
BREAKPOINT { ik = gbar*(v - erev) }
