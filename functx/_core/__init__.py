"""Floor 0: errors, dtypes, promotion, the catalog and randomness. It knows no operator."""

from .catalog import (
    Autocast as Autocast,
    OPERATORS as OPERATORS,
    OpSpec as OpSpec,
    REGISTRY as REGISTRY,
)
from .declare import operator as operator
from .devices import find_device as find_device, place as place
from .dtypes import (
    Accepts as Accepts,
    as_dtype as as_dtype,
    available as available,
    category as category,
    complex_of as complex_of,
    DEFAULT_FLOAT as DEFAULT_FLOAT,
    fits as fits,
    highest as highest,
    LONG as LONG,
    lowest as lowest,
    real_of as real_of,
)
from .errors import describe as describe, fail as fail, refuse as refuse, Refused as Refused
from .promotion import (
    compute_and_result as compute_and_result,
    Promote as Promote,
    result_dtype as result_dtype,
)
from .shapes import broadcasts_to as broadcasts_to
from .signature import (
    ArrayLike as ArrayLike,
    Arrays as Arrays,
    canonical_dim as canonical_dim,
    canonical_dims as canonical_dims,
    canonical_shape as canonical_shape,
    Device as Device,
    Dim as Dim,
    Dims as Dims,
    DType as DType,
    Index as Index,
    Key as Key,
    Mask as Mask,
    Other as Other,
    Others as Others,
    Scalar as Scalar,
    Shape as Shape,
)
from .values import (
    index_in_range as index_in_range,
    peek as peek,
    Requirement as Requirement,
)
