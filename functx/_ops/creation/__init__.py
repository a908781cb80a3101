"""New arrays from sizes and numbers."""

from .filled import *
from .ranges import *
