NEURON { SUFFIX all_functions NONSPECIFIC_CURRENT i RANGE g }
PARAMETER { g = 0.0001 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) f }
BREAKPOINT {
    f = sin(1) + cos(0.5) + tan(0.3) + exp(0.2) + log(3) + log10(40) + sqrt(2) + fabs(-2) + sinh(0.3) + cosh(0.2) + tanh(0.4)
    f = f + pow(2, 3) + floor(2.7) + ceil(1.2)
    i = g*f*(v + 48)
}
