"""What `torch.backends` sets of the precision of products and convolutions."""

from __future__ import annotations

from ._arrays.backends import cuda as cuda, cudnn as cudnn
from ._names import equip as _equip


_equip(__name__)
