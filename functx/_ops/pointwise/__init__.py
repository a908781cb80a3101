"""Operators that work element by element, broadcasting."""

from .arithmetic import *
from .bitwise import *
from .comparison import *
from .complex_parts import *
from .division import *
from .exponential import *
from .powers import *
from .rounding import *
from .selection import *
from .special_functions import *
from .trigonometric import *
