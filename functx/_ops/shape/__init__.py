"""Shapes: views, rearranging, joining, splitting, diagonals."""

from .broadcasting import *
from .diagonals import *
from .joining import *
from .outer_products import *
from .rearranging import *
from .selecting import *
from .splitting import *
from .views import *
