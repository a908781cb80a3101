"""Order: sorting, searching, unique values."""

from .searching import *  # noqa: F403
from .sorting import *  # noqa: F403
from .uniqueness import *  # noqa: F403
