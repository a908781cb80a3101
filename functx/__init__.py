from ._ops.pointwise import *
