NEURON { SUFFIX old_states_bounded USEION na READ ena WRITE ina RANGE gbar }
PARAMETER { v (mV) dt (ms) gbar = 0.01 (S/cm2) ena (mV) tmin = 0.05 }
STATE { m }
ASSIGNED { ina (mA/cm2) inf tau fac }
INITIAL { rates(v) m = inf }
BREAKPOINT { SOLVE states ina = gbar*m^3*(v - ena) }
PROCEDURE states() {
    rates(v)
    m = m + fac*(inf - m)
}
LOCAL x, y
PROCEDURE rates(u) {
    x = 0.4*exp((u + 30)/7.2)
    y = 0.12*exp(-(u + 30)/7.2)
    inf = x/(x + y)
    tau = 0.5/(x + y)
    if (tau < tmin) { tau = tmin }
    fac = 1 - exp(-dt/tau)
}
