NEURON { SUFFIX nonlinear_steady NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.002 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { x }
INITIAL { x = 0.5 SOLVE start }
BREAKPOINT { SOLVE s METHOD cnexp i = g*x*(v + 40) }
DERIVATIVE s { x' = (0.8 - x)/12 }
NONLINEAR start { ~ x*x + x = 0.6 }
