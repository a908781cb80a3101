"""Random numbers, drawn with a key or from the ambient generator."""

from .continuous import *
from .discrete import *
