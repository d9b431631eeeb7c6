: the fluxes of a reaction are read
NEURON { SUFFIX kinetic_flux NONSPECIFIC_CURRENT i RANGE g, net }
PARAMETER { g = 0.01 (S/cm2) }
ASSIGNED { v (mV) i (mA/cm2) net }
STATE { p q }
INITIAL { p = 0.7 q = 0.3 net = 0 }
BREAKPOINT { SOLVE kin METHOD sparse i = g*(p + net)*(v + 50) }
KINETIC kin {
    ~ p <-> q (0.2*exp((v + 50)/30), 0.1)
    net = f_flux - b_flux
}
