"""The modules in which users find public names that are no operators."""

import functx
import functx.autograd
import functx.debug


FACADES = [
    functx,
    functx.debug,
    functx.autograd,
    functx.autograd.forward_ad,
    functx.autograd.functional,
    functx.autograd.graph,
]
