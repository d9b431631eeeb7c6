NEURON { SUFFIX ghk_calcium USEION ca READ cai, cao WRITE ica RANGE pbar }
UNITS { FARADAY = (faraday) (coulomb) R = (k-mole) (joule/degC) }
PARAMETER { pbar = 2e-5 (cm/s) celsius (degC) }
ASSIGNED { v (mV) cai (mM) cao (mM) ica (mA/cm2) }
STATE { m }
INITIAL { m = inf(v) }
BREAKPOINT { SOLVE s METHOD cnexp ica = pbar*m*m*ghk(v, cai, cao) }
DERIVATIVE s { m' = (inf(v) - m)/1.7 }
FUNCTION inf(u) { inf = 1/(1 + exp(-(u + 32)/7)) }
FUNCTION ghk(u (mV), ci (mM), co (mM)) (.001 coul/cm3) {
    LOCAL z, eci, eco
    z = (1e-3)*2*FARADAY*u/(R*(celsius + 273.15))
    eco = co*efun(z)
    eci = ci*efun(-z)
    ghk = (.001)*2*FARADAY*(eci - eco)
}
FUNCTION efun(z) {
    if (fabs(z) < 1e-4) { efun = 1 - z/2 } else { efun = z/(exp(z) - 1) }
}
