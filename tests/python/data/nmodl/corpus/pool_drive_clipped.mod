: what flows out does not empty the shell
NEURON { SUFFIX pool_drive_clipped USEION ca READ ica, cai WRITE cai RANGE depth, taur, cainf }
UNITS { (mM) = (milli/liter) FARADAY = (faraday) (coulomb) }
PARAMETER { depth = 0.2 (um) taur = 18 (ms) cainf = 2e-4 (mM) }
STATE { ca (mM) }
ASSIGNED { ica (mA/cm2) cai (mM) drive (mM/ms) }
INITIAL { ca = cainf cai = ca }
BREAKPOINT { SOLVE state METHOD euler }
DERIVATIVE state {
    drive = -(10000)*ica/(2*FARADAY*depth)
    if (drive <= 0.) { drive = 0. }
    ca' = drive + (cainf - ca)/taur
    cai = ca
}
