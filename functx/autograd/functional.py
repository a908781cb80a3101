"""Products with Jacobians and Hessians: the interface of `torch.autograd.functional`."""

from functx._names import equip as _equip
from functx._transforms.autograd.functional import (
    hessian as hessian,
    hvp as hvp,
    jacobian as jacobian,
    jvp as jvp,
    vhp as vhp,
    vjp as vjp,
)


_equip(__name__)
