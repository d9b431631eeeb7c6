: calcium binds to a buffer
NEURON { SUFFIX pool_kinetic_buffer USEION ca READ ica WRITE cai RANGE total }
UNITS { FARADAY = (faraday) (coulomb) }
PARAMETER { total = 0.05 (mM) kf = 80 kb = 0.02 depth = 0.2 (um) pump = 0.08 }
ASSIGNED { ica (mA/cm2) }
STATE { cai (mM) b (mM) bca (mM) }
INITIAL { cai = 1e-4 bca = total*kf*cai/(kf*cai + kb) b = total - bca }
BREAKPOINT { SOLVE s METHOD sparse }
KINETIC s {
    ~ cai << (-(10000)*ica/(2*FARADAY*depth) - pump*(cai - 1e-4))
    ~ cai + b <-> bca (kf, kb)
}
