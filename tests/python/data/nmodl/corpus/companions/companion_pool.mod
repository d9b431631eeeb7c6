: the calcium_pool of Ranvier, for files that read the concentration
NEURON { SUFFIX companion_pool USEION ca READ ica WRITE cai }
CONSTANT { F = 96485.33212 share = 0.05 depth = 0.1 decay = 20 rest = 1e-4 }
ASSIGNED { ica (mA/cm2) }
STATE { cai (mM) }
INITIAL { cai = rest }
BREAKPOINT { SOLVE s METHOD cnexp }
DERIVATIVE s { cai' = -1e4*share*ica/(2*F*depth) - (cai - rest)/decay }
