NEURON { POINT_PROCESS point_current_sine RANGE amp, freq, i ELECTRODE_CURRENT i }
UNITS { PI = (pi) (1) }
PARAMETER { amp = 0.1 (nA) freq = 80 (Hz) }
ASSIGNED { i (nA) }
BREAKPOINT { i = amp*sin(2*PI*freq*t*0.001) }
