"""What PyTorch has under `torch.autograd`, for functions instead of recorded arrays."""

from functx._names import equip as _equip
from functx._transforms.anomaly.detect import detect_anomaly as detect_anomaly
from functx._transforms.autograd.gradients import grad as grad
from functx._transforms.functions.function import Function as Function
from functx._transforms.functions.once import once_differentiable as once_differentiable
from functx._transforms.functions.protocol import Context as Context
from functx._transforms.modes.grad_modes import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)

from . import forward_ad as forward_ad, functional as functional, graph as graph


_equip(__name__)
