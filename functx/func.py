"""The functions of `torch.func` under PyTorch's names; each is the one of `functx`."""

from ._names import equip as _equip
from ._transforms.functional_call import functional_call as functional_call
from ._transforms.grad import grad as grad, grad_and_value as grad_and_value
from ._transforms.jacobian import hessian as hessian, jacfwd as jacfwd, jacrev as jacrev
from ._transforms.jvp import jvp as jvp
from ._transforms.linearize import linearize as linearize
from ._transforms.vjp import vjp as vjp
from ._transforms.vmap import vmap as vmap


_equip(__name__)
