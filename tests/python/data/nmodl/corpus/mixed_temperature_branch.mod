NEURON { SUFFIX mixed_temperature_branch USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) celsius (degC) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) qt }
STATE { n }
INITIAL {
    if (celsius > 37) { qt = 4 } else if (celsius > 20) { qt = 3^((celsius - 24)/10) } else { qt = 0.5 }
    n = inf(v)
}
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = qt*(inf(v) - n)/11 }
FUNCTION inf(u (mV)) { inf = 1/(1 + exp(-(u + 40)/7)) }
