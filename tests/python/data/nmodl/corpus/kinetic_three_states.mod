NEURON { SUFFIX kinetic_three_states USEION na READ ena WRITE ina RANGE gbar }
PARAMETER { gbar = 0.02 (S/cm2) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) a b d r }
STATE { C O I }
INITIAL { rates() SOLVE gating STEADYSTATE sparse }
BREAKPOINT { SOLVE gating METHOD sparse ina = gbar*O*(v - ena) }
KINETIC gating {
    rates()
    ~ C <-> O (a, b)
    ~ O <-> I (d, r)
    ~ I <-> C (0.02, 1e-4)
    CONSERVE C + O + I = 1
}
PROCEDURE rates() {
    a = 1.4*exp((v + 35)/14)
    b = 1.1*exp(-(v + 45)/18)
    d = 0.8
    r = 0.05*exp(-(v + 60)/12)
}
