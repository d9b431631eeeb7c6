: a pool without a volume, by a factor
NEURON { SUFFIX pool_simple USEION ca READ ica WRITE cai RANGE phi, beta }
PARAMETER { phi = 0.09 beta = 0.05 (/ms) }
ASSIGNED { ica (mA/cm2) }
STATE { cai (mM) }
INITIAL { cai = 3e-4 }
BREAKPOINT { SOLVE s METHOD derivimplicit }
DERIVATIVE s { cai' = -phi*ica - beta*(cai - 3e-4) }
