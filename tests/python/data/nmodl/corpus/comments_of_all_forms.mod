TITLE a title with { braces } and ' quotes
COMMENT
    NEURON { SUFFIX wrong }
ENDCOMMENT
NEURON {  : what follows is no code }
    SUFFIX comments_of_all_forms ? nor this }
    NONSPECIFIC_CURRENT i
}
PARAMETER { g = 0.001 (S/cm2) : e = 3
}
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v + 48) ? + 1000
}
