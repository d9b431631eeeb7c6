NEURON { SUFFIX units_factor_constant USEION na READ ena WRITE ina RANGE pbar }
UNITS {
    (mV) = (millivolt)
    (mA) = (milliamp)
    FARADAY = (faraday) (kilocoulombs)
    PI = (pi) (1)
}
PARAMETER { pbar = 3e-5 celsius (degC) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) g }
BREAKPOINT {
    g = pbar*FARADAY/PI
    ina = g*(v - ena)
}
