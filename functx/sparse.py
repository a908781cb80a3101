"""Sparse arrays of `jax.experimental.sparse` under PyTorch's names, and gradients by rows."""

from __future__ import annotations

from ._names import equip as _equip
from ._sparse.conversion import (
    coalesce as coalesce,
    sparse_mask as sparse_mask,
    to_dense as to_dense,
    to_sparse as to_sparse,
)
from ._sparse.products import (
    addmm as addmm,
    mm as mm,
    mv as mv,
    sampled_addmm as sampled_addmm,
)
from ._sparse.row_gradients import (
    row_grad as row_grad,
    value_and_row_grad as value_and_row_grad,
)
from ._sparse.updates import apply_rows as apply_rows, lazy_update as lazy_update


_equip(__name__)
