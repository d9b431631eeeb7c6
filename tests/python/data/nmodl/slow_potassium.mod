: Slow potassium current of cortical pyramidal cells, for tests: written from the equations that
: A. Korngreen and B. Sakmann (2000) published, at 21 degrees

NEURON {
    SUFFIX slow_potassium
    USEION k READ ek WRITE ik VALENCE 1
    RANGE gbar, gk
}

PARAMETER {
    gbar = 0.01 (S/cm2)
    ek = -85 (mV)
    v (mV)
}

CONSTANT { factor = 2.3 }

STATE { m FROM 0 TO 1  h FROM 0 TO 1 }

ASSIGNED { ik (mA/cm2) gk (S/cm2) celsius (degC) speed mtau (ms) htau (ms) }

BREAKPOINT {
    SOLVE gates METHOD cnexp
    gk = gbar*m^2*h
    ik = gk*(v - ek)
}

INITIAL {
    speed = factor^((celsius - 21)/10)
    taus(v)
    m = half(v, -11, 12)
    h = 0.25
}

DERIVATIVE gates {
    taus(v)
    m' = speed*(half(v, -11, 12) - m)/mtau
    h' = speed*(half(v, -64, -11) - h)/htau
}

PROCEDURE taus(u(mV)) {

    if (u < -60 && !(u >= -60)) {
        mtau = 1.25 + 13*exp(0.026*(u + 110))
    } else {
        mtau = 1.25(ms) + 13*exp(-0.026*(u + 10))
    }
    htau = 360 + (1010 + 24*(u + 65))*exp(-pow((u + 85)/48, 2))
}

FUNCTION half(u (mV), middle (mV), width (mV)) {
    half = 1/(1 + exp(-(u - middle)/width))
}
