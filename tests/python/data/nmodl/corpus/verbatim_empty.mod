NEURON { SUFFIX verbatim_empty NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0005 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) }
STATE { q }
INITIAL { q = 0.5 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*q*(v + 44) }
DERIVATIVE s { rate() q' = (1/(1 + exp(-(v + 40)/9)) - q)/3 }
PROCEDURE rate() {
VERBATIM
    return 0;
ENDVERBATIM
}
