"""torch.linalg: factorisations, solving, determinants and norms."""

from .determinants import *
from .factorizations import *
from .singular_values import *
from .solving import *
from .vector_norms import *
