NEURON { SUFFIX calcium_gate_at_once USEION ca READ cai USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.006 (S/cm2) half = 0.0004 (mM) }
ASSIGNED { v (mV) cai (mM) ek (mV) ik (mA/cm2) }
BREAKPOINT { ik = gbar*cai/(cai + half)*(v - ek) }
