"""Transforms of eager code that run call by call, in programs that are compiled once.

JAX's own transforms look each call's rules up anew, and trace, transpose or batch what they say.
Here a transform of a call is one compiled program, looked up by the primitive, its parameters and
which arguments take part; JAX looks it up further, by types and settings. Inside of JAX's
transforms, under settings that look into single calls, and for functions that put what takes part
into mutable arrays, the way is JAX's own.
"""

from .forward import eager_jvp as eager_jvp
from .lanes import eager_vmap as eager_vmap
from .reverse import eager_vjp as eager_vjp
