NEURON { SUFFIX table_of_function NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { p }
INITIAL { p = target(v) }
BREAKPOINT { SOLVE s METHOD cnexp i = g*p*(v + 15) }
DERIVATIVE s { p' = (target(v) - p)/6 }
FUNCTION target(x) {
    TABLE FROM -150 TO 150 WITH 600
    target = 1/(1 + exp(-(x + 50)/12))
}
