NEURON { SUFFIX old_states_table_of_dt USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { v (mV) dt (ms) gbar = 0.004 (S/cm2) ek (mV) celsius (degC) }
STATE { n }
ASSIGNED { ik (mA/cm2) ninf nexp }
INITIAL { rates(v) n = ninf }
BREAKPOINT { SOLVE states ik = gbar*n^4*(v - ek) }
PROCEDURE states() { rates(v) n = n + nexp*(ninf - n) }
PROCEDURE rates(u) {
    LOCAL q, tinc, sum
    TABLE ninf, nexp DEPEND dt, celsius FROM -100 TO 100 WITH 200
    q = 3^((celsius - 20)/10)
    tinc = -dt*q
    sum = 0.1*exp((u + 40)/18) + 0.1*exp(-(u + 40)/40)
    ninf = 0.1*exp((u + 40)/18)/sum
    nexp = 1 - exp(tinc*sum)
}
