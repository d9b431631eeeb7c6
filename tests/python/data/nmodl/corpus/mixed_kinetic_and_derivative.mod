NEURON { SUFFIX mixed_kinetic_and_derivative USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { c o h }
INITIAL { c = 0.7 o = 0.3 h = 0.5 }
BREAKPOINT {
    SOLVE kin METHOD sparse
    SOLVE der METHOD cnexp
    ik = gbar*o*h*(v - ek)
}
KINETIC kin { ~ c <-> o (0.2*exp((v + 40)/20), 0.1) }
DERIVATIVE der { h' = (1/(1 + exp((v + 60)/7)) - h)/40 }
