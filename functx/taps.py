"""Points inside a function: their values and gradients, and hooks in the backward pass."""

from ._names import equip as _equip
from ._transforms.taps.capture import (
    tap_grads as tap_grads,
    tap_values as tap_values,
    value_and_tap_grads as value_and_tap_grads,
)
from ._transforms.taps.fused import fused_update as fused_update
from ._transforms.taps.rule_hooks import with_rule_hooks as with_rule_hooks
from ._transforms.taps.tap import tap as tap, tap_group as tap_group


_equip(__name__)
