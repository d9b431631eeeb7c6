: what the table does not list depends on nothing that the table is of
NEURON { SUFFIX table_unlisted_constant USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) celsius (degC) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) ninf ntau tadj }
STATE { n }
INITIAL { rates(v) n = ninf }
BREAKPOINT { SOLVE s METHOD cnexp ik = tadj*gbar*n*(v - ek) }
DERIVATIVE s { rates(v) n' = (ninf - n)/ntau }
PROCEDURE rates(u) {
    TABLE ninf, ntau DEPEND celsius FROM -120 TO 100 WITH 199
    tadj = 2.3^((celsius - 23)/10)
    ninf = 1/(1 + exp(-(u + 40)/9))
    ntau = 7/tadj
}
