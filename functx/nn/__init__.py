"""torch.nn's functional half."""

from . import functional as functional
