"""The graph that a backward pass goes through, and hooks on what it keeps."""

from functx._aot.graphs.tracing import make_graph as make_graph
from functx._names import equip as _equip
from functx._transforms.residuals.hooks import (
    disable_residual_hooks as disable_saved_tensors_hooks,
    residual_hooks as saved_tensors_hooks,
)
from functx._transforms.residuals.offload import save_on_cpu as save_on_cpu


_equip(__name__)
