NEURON { SUFFIX linear_steady NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.002 (S/cm2) a = 0.4 b = 0.2 }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { p q }
INITIAL { SOLVE start }
BREAKPOINT { SOLVE s METHOD cnexp i = g*p*(v + 40) }
DERIVATIVE s { p' = (0.8 - p)/12 q' = -q/5 }
LINEAR start {
    ~ a*p - b*q = 0
    ~ p + q = 1
}
