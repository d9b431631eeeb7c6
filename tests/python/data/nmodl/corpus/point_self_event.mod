: the flag of an event
NEURON { POINT_PROCESS point_self_event RANGE width NONSPECIFIC_CURRENT i }
PARAMETER { width = 1.5 (ms) }
ASSIGNED { v (mV) i (nA) on (uS) }
INITIAL { on = 0 }
BREAKPOINT { i = on*v }
NET_RECEIVE(weight (uS)) {
    if (flag == 0) {
        on = on + weight
        net_send(width, 1)
    } else {
        on = on - weight
    }
}
