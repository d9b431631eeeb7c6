NEURON { SUFFIX if_else_if_chain NONSPECIFIC_CURRENT i RANGE g, e }
PARAMETER { g = 0.002 (S/cm2) e = -20 (mV) }
ASSIGNED { v (mV) i (mA/cm2) xinf xtau }
STATE { x }
INITIAL { pick(v) x = xinf }
BREAKPOINT { SOLVE s METHOD cnexp i = g*x*(v - e) }
DERIVATIVE s { pick(v) x' = (xinf - x)/xtau }
PROCEDURE pick(u) {
    if (u < -75) {
        xinf = 0.1
        xtau = 9
    } else if (u < -55) {
        xinf = 0.3
        xtau = 4
    } else if (u < -35) {
        xinf = 0.45
        xtau = 2
    } else {
        xinf = 0.8
        xtau = 1
    }
}
