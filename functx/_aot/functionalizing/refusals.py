"""What PyTorch's tensors have and mutable arrays do not, with what to write."""

from __future__ import annotations


_STORAGE = "a mutable array keeps its storage: x.copy_(value) writes elements"
_SIZE = "a mutable array keeps its size: make another one, functx.aot.mutable(functx.empty(size))"
_TAPE = "arrays record nothing: functx.grad(functx.aot.functionalize(f)) differentiates"
_ADDRESS = "XLA decides where arrays lie"
_PYTHON = "it calls Python for each element: functx.vmap(f) maps f, x.copy_ writes the result"

REFUSED = {
    "_version": "nothing counts writes: what a derivative needs is kept as it was, never written",
    "apply_": _PYTHON,
    "backward": _TAPE,
    "data =": "x.data.copy_(value) writes elements, hidden from derivatives as in PyTorch",
    "data_ptr": _ADDRESS,
    "grad": _TAPE,
    "grad_fn": _TAPE,
    "is_leaf": _TAPE,
    "map2_": _PYTHON,
    "map_": _PYTHON,
    "register_hook": "functx.taps.tap(x, on_grad=hook) gives an array with a hook",
    "requires_grad": _TAPE,
    "requires_grad_": _TAPE,
    "resize_": _SIZE,
    "resize_as_": _SIZE,
    "retain_grad": _TAPE,
    "set_": _STORAGE,
    "share_memory_": _ADDRESS,
    "storage": _STORAGE,
    "untyped_storage": _STORAGE,
}
