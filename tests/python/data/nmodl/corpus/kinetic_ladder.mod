: five states in a row with factors, and inactivation beside
NEURON { SUFFIX kinetic_ladder USEION na READ ena WRITE ina RANGE gbar GLOBAL Con, Coff }
PARAMETER { gbar = 0.05 (S/cm2) Con = 0.01 (/ms) Coff = 0.4 (/ms) Oon = 2 (/ms) Ooff = 0.01 (/ms) celsius (degC) }
ASSIGNED { v (mV) ena (mV) ina (mA/cm2) am bm qt }
STATE { C0 C1 C2 O I0 I1 I2 I3 }
INITIAL { qt = 2.2^((celsius - 22)/10) SOLVE act STEADYSTATE sparse }
BREAKPOINT { SOLVE act METHOD sparse ina = gbar*O*(v - ena) }
KINETIC act {
    rates(v)
    ~ C0 <-> C1 (3*am, bm)
    ~ C1 <-> C2 (2*am, 2*bm)
    ~ C2 <-> O (am, 3*bm)
    ~ I0 <-> I1 (3*am*2, bm/2)
    ~ I1 <-> I2 (2*am*2, 2*bm/2)
    ~ I2 <-> I3 (am*2, 3*bm/2)
    ~ C0 <-> I0 (Con, Coff)
    ~ C1 <-> I1 (Con*2, Coff/2)
    ~ C2 <-> I2 (Con*4, Coff/4)
    ~ O <-> I3 (Oon, Ooff)
    CONSERVE C0 + C1 + C2 + O + I0 + I1 + I2 + I3 = 1
}
PROCEDURE rates(u) {
    am = qt*1.5*exp((u + 30)/16)
    bm = qt*0.9*exp(-(u + 30)/16)
}
