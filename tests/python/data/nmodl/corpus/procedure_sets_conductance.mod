NEURON { SUFFIX procedure_sets_conductance USEION k READ ek WRITE ik RANGE gbar, minf }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) minf hinf }
STATE { h }
INITIAL { rates(v) h = hinf }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*minf*minf*h*(v - ek) }
DERIVATIVE s { rates(v) h' = (hinf - h)/16 }
PROCEDURE rates(u) {
    minf = 1/(1 + exp(-(u + 45)/6))
    hinf = 1/(1 + exp((u + 62)/8))
}
