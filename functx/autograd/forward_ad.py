"""Forward mode by dual numbers, with the interface of `torch.autograd.forward_ad`."""

from functx._names import equip as _equip
from functx._transforms.autograd.duals import (
    dual_level as dual_level,
    make_dual as make_dual,
    unpack_dual as unpack_dual,
    UnpackedDualTensor as UnpackedDualTensor,
)
from functx._transforms.modes.grad_modes import (
    is_fwd_grad_enabled as is_fwd_grad_enabled,
    set_fwd_grad_enabled as set_fwd_grad_enabled,
)


_equip(__name__)
