NEURON { SUFFIX celsius_in_other_words USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) celsius (deg) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
BREAKPOINT { ik = gbar*(v - ek)*celsius/100 }
