NEURON { POINT_PROCESS point_current_pulse RANGE del, dur, amp, i ELECTRODE_CURRENT i }
PARAMETER { del = 3.02 (ms) dur = 10 (ms) amp = 0.1 (nA) }
ASSIGNED { i (nA) }
INITIAL { i = 0 }
BREAKPOINT {
    at_time(del)
    at_time(del + dur)
    if (t < del + dur && t >= del) { i = amp } else { i = 0 }
}
