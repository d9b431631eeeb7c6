TITLE leak of potassium

NEURON {
    SUFFIX leak_ion
    USEION k READ ek WRITE ik
    RANGE gl
}
UNITS {
    (mV) = (millivolt)
    (mA) = (milliamp)
}
PARAMETER {
    gl = 0.2e-3 (mho/cm2)
}
ASSIGNED {
    v (mV)
    ek (mV)
    ik (mA/cm2)
}
BREAKPOINT {
    ik = gl*(v - ek)
}
