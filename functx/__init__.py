"""Function transforms and PyTorch-named operators on JAX.

`functx.grad`, `vjp`, `jvp`, `vmap`, `jacrev`, `jacfwd`, `hessian` and their kin have the
interface of `torch.func`; operators such as `functx.sum` or `functx.nn.functional.conv2d`
have PyTorch's names and semantics and take plain `jax.Array`s.
"""

from jax.numpy import (
    bfloat16 as bfloat16,
    bool_ as bool,
    complex64 as cfloat,
    complex64 as complex64,
    complex128 as cdouble,
    complex128 as complex128,
    float16 as float16,
    float16 as half,
    float32 as float,
    float32 as float32,
    float64 as double,
    float64 as float64,
    int8 as int8,
    int16 as int16,
    int16 as short,
    int32 as int,
    int32 as int32,
    int64 as int64,
    int64 as long,
    uint8 as uint8,
)

from . import (
    debug as debug,
    fft as fft,
    linalg as linalg,
    nn as nn,
    random as random,
    special as special,
)
from ._core.catalog import aliases_in as _aliases_in
from ._core.random import manual_seed as manual_seed
from ._core.state import enable_x64 as enable_x64, x64 as x64
from ._ops.creation import *
from ._ops.indexing import *
from ._ops.pointwise import *
from ._ops.products import *
from ._ops.random import *
from ._ops.reductions import *
from ._ops.shape import *
from ._ops.sorting import *
from ._transforms import *


__version__ = "0.1.0"

globals().update(_aliases_in(""))
