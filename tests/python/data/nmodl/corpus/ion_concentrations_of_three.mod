: concentrations of sodium and potassium; numbers of the file are not used
NEURON {
    SUFFIX ion_concentrations_of_three
    USEION na READ nai, nao WRITE ina
    USEION k READ ki, ko
    NONSPECIFIC_CURRENT i
    RANGE p
}
PARAMETER { p = 0.0004 (S/cm2) nai = 33 (mM) ko = 9 (mM) celsius (degC) }
ASSIGNED { v (mV) nao (mM) ki (mM) ina (mA/cm2) i (mA/cm2) }
BREAKPOINT {
    ina = p*(v - 0.08617*(celsius + 273.15)*log(nao/nai))
    i = p*ki/(ki + 40)*(v - 0.08617*(celsius + 273.15)*log(ko/ki))
}
