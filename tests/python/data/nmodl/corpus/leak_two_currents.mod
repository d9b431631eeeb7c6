NEURON {
    SUFFIX leak_two_currents
    NONSPECIFIC_CURRENT il, ib
    RANGE gl, gb
    GLOBAL eb
}
PARAMETER {
    gl = .0003 (S/cm2) <0, 1>
    gb = 1e-4 (S/cm2) <0, 1>
    el = -72 (mV)
    eb = -10 (mV)
}
ASSIGNED { v (mV) il (mA/cm2) ib (mA/cm2) }
BREAKPOINT {
    il = gl*(v - el)
    ib = gb*(v - eb)
}
