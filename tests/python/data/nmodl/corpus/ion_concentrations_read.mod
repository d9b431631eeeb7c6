: those of potassium, which no mechanism changes
NEURON { SUFFIX ion_concentrations_read USEION k READ ki, ko WRITE ik RANGE gbar }
PARAMETER { gbar = 0.001 (S/cm2) celsius (degC) }
ASSIGNED { v (mV) ki (mM) ko (mM) ik (mA/cm2) }
BREAKPOINT { ik = gbar*(v - 0.08617*(celsius + 273.15)*log(ko/ki)) }
