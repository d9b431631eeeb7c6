: a gate that follows at once, in the current itself
NEURON { SUFFIX nonlinear_steady_current USEION na READ ena WRITE ina RANGE gbar }
PARAMETER { gbar = 0.0008 (S/cm2) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) minf }
STATE { h }
INITIAL { h = 1/(1 + exp((v + 50)/9)) }
BREAKPOINT {
    SOLVE s METHOD cnexp
    minf = 1/(1 + exp(-(v + 52)/5))
    ina = gbar*minf*h*(v - ena)
}
DERIVATIVE s { h' = (1/(1 + exp((v + 50)/9)) - h)/120 }
