NEURON { SUFFIX pool_exponential USEION ca READ ica WRITE cai RANGE depth, decay, gamma, rest }
UNITS { FARADAY = (faraday) (coulomb) }
PARAMETER { gamma = 0.06 decay = 12 (ms) depth = 0.12 (um) rest = 1e-4 (mM) }
ASSIGNED { ica (mA/cm2) }
INITIAL { cai = rest }
STATE { cai (mM) }
BREAKPOINT { SOLVE states METHOD cnexp }
DERIVATIVE states { cai' = -(10000)*(ica*gamma/(2*FARADAY*depth)) - (cai - rest)/decay }
