"""Reading and writing at positions."""

from .assigning import *  # noqa: F403
from .combining import *  # noqa: F403
from .gathering import *  # noqa: F403
from .masking import *  # noqa: F403
from .scattering import *  # noqa: F403
