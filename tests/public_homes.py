"""The modules in which users find public names that are no operators."""

import functx
import functx.amp
import functx.aot
import functx.autograd
import functx.backends
import functx.checkpointing
import functx.curvature
import functx.debug
import functx.func
import functx.implicit
import functx.interop
import functx.memory
import functx.nested
import functx.profiler
import functx.residuals
import functx.sparse
import functx.sparsity
import functx.taps


FACADES = [
    functx,
    functx.amp,
    functx.aot,
    functx.autograd,
    functx.autograd.forward_ad,
    functx.autograd.functional,
    functx.autograd.graph,
    functx.backends,
    functx.checkpointing,
    functx.curvature,
    functx.debug,
    functx.func,
    functx.implicit,
    functx.interop,
    functx.memory,
    functx.nested,
    functx.profiler,
    functx.residuals,
    functx.sparse,
    functx.sparsity,
    functx.taps,
]
