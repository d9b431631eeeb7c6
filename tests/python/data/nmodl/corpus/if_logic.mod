NEURON { SUFFIX if_logic NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.001 (S/cm2) a = 2 b = 3 }
ASSIGNED { v (mV) i (mA/cm2) k }
BREAKPOINT {
    k = 1
    if ((a >= 2 && b < 3) || a != 2) { k = 100 }
    if (!(a == 3)) { k = k + 0.5 }
    if (a <= 1) { k = 7 } else if (b > 2.5) { k = k*2 }
    i = g*k*(v + 52)
}
