"""torch.nn.functional: layers, losses and activations as functions."""

from .activation import *  # noqa: F403
from .attention import *
from .classification import *  # noqa: F403
from .convolution import *
from .dropout import *  # noqa: F403
from .interpolation import *
from .linear import *
from .losses import *  # noqa: F403
from .normalization import *
from .padding import *
from .pooling import *
from .scaling import *  # noqa: F403
from .softmax import *  # noqa: F403
from .sparse import *  # noqa: F403
