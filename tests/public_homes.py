"""The modules in which users find public names that are no operators."""

import functx
import functx.aot
import functx.autograd
import functx.backends
import functx.checkpointing
import functx.debug
import functx.func
import functx.implicit
import functx.residuals
import functx.taps


FACADES = [
    functx,
    functx.aot,
    functx.autograd,
    functx.autograd.forward_ad,
    functx.autograd.functional,
    functx.autograd.graph,
    functx.backends,
    functx.checkpointing,
    functx.debug,
    functx.func,
    functx.implicit,
    functx.residuals,
    functx.taps,
]
