NEURON { SUFFIX table_of_rates USEION k READ ek WRITE ik RANGE gbar GLOBAL ninf, ntau }
PARAMETER { gbar = 0.004 (S/cm2) }
ASSIGNED { v (mV) ek (mV) celsius (degC) ik (mA/cm2) ninf ntau (ms) }
STATE { n }
INITIAL { rates(v) n = ninf }
BREAKPOINT { SOLVE states METHOD cnexp ik = gbar*n^4*(v - ek) }
DERIVATIVE states { rates(v) n' = (ninf - n)/ntau }
PROCEDURE rates(v (mV)) {
    LOCAL a, b, q
    TABLE ninf, ntau DEPEND celsius FROM -120 TO 80 WITH 400
    q = 3^((celsius - 20)/10)
    a = 0.09*exp((v + 40)/18)
    b = 0.06*exp(-(v + 40)/40)
    ntau = 1/(q*(a + b))
    ninf = a/(a + b)
}
