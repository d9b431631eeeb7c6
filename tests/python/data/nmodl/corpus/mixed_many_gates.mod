NEURON { SUFFIX mixed_many_gates USEION na READ ena WRITE ina USEION k READ ek WRITE ik NONSPECIFIC_CURRENT ileak RANGE gna, gk, ga, gl }
UNITS { (mV) = (millivolt) (mA) = (milliamp) (S) = (siemens) }
PARAMETER {
    gna = 0.05 (S/cm2)
    gk = 0.006 (S/cm2)
    ga = 0.004 (S/cm2)
    gl = 0.0001 (S/cm2)
    el = -63 (mV)
    q = 2.3
    celsius (degC)
}
ASSIGNED { v (mV) ena (mV) ek (mV) ina (mA/cm2) ik (mA/cm2) ileak (mA/cm2) inf[5] tau[5] speed }
STATE { m h n a b }
INITIAL { all(v) m = inf[0] h = inf[1] n = inf[2] a = inf[3] b = inf[4] }
BREAKPOINT {
    SOLVE states METHOD cnexp
    ina = gna*m^3*h*(v - ena)
    ik = (gk*n^4 + ga*a^3*b)*(v - ek)
    ileak = gl*(v - el)
}
DERIVATIVE states {
    all(v)
    m' = (inf[0] - m)/tau[0]
    h' = (inf[1] - h)/tau[1]
    n' = (inf[2] - n)/tau[2]
    a' = (inf[3] - a)/tau[3]
    b' = (inf[4] - b)/tau[4]
}
PROCEDURE all(u) {
    speed = q^((celsius - 25)/10)
    inf[0] = sigma(u, -38, 7) tau[0] = 0.1/speed
    inf[1] = sigma(u, -55, -6) tau[1] = (0.5 + 6*sigma(u, -55, -8))/speed
    inf[2] = sigma(u, -35, 10) tau[2] = (1 + 5*sigma(u, -35, -12))/speed
    inf[3] = sigma(u, -50, 14) tau[3] = 1/speed
    inf[4] = sigma(u, -75, -7) tau[4] = 20/speed
}
FUNCTION sigma(u, half, k) { sigma = 1/(1 + exp(-(u - half)/k)) }
