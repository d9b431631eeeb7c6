: exponential steps written out, with the step in their factor
NEURON { SUFFIX old_states_procedure USEION na READ ena WRITE ina RANGE gbar }
INDEPENDENT {t FROM 0 TO 1 WITH 1 (ms)}
PARAMETER { v (mV) dt (ms) gbar = 0.02 (S/cm2) ena = 50 (mV) celsius = 36 (degC) }
STATE { m h }
ASSIGNED { ina (mA/cm2) m_inf h_inf tau_m tau_h m_exp h_exp tadj }
BREAKPOINT {
    SOLVE states
    ina = gbar*m*m*m*h*(v - ena)
}
PROCEDURE states() {
    evaluate(v)
    m = m + m_exp*(m_inf - m)
    h = h + h_exp*(h_inf - h)
}
UNITSOFF
INITIAL {
    m = 0
    h = 0
    tadj = 3^((celsius - 36)/10)
}
PROCEDURE evaluate(u) {
    LOCAL a, b
    a = 0.32*(13 - (u + 60))/(exp((13 - (u + 60))/4) - 1)
    b = 0.28*((u + 60) - 40)/(exp(((u + 60) - 40)/5) - 1)
    tau_m = 1/(a + b)/tadj
    m_inf = a/(a + b)
    a = 0.128*exp((17 - (u + 60))/18)
    b = 4/(1 + exp((40 - (u + 60))/5))
    tau_h = 1/(a + b)/tadj
    h_inf = a/(a + b)
    m_exp = 1 - exp(-dt/tau_m)
    h_exp = 1 - exp(-dt/tau_h)
}
UNITSON
