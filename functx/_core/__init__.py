"""Floor 0: what operators and transforms are built of. It knows no operator."""

from .devices.manual_axes import (
    equally_varying as equally_varying,
    platform_dependent as platform_dependent,
    sharded_explicitly as sharded_explicitly,
)
from .devices.placement import find_device as find_device, place as place
from .devices.xla_faults import avoid_wrong_reductions
from .errors import (
    describe as describe,
    fail as fail,
    foreign_hint as foreign_hint,
    near_names as near_names,
    nearest as nearest,
    refuse as refuse,
    Refused as Refused,
    require_bool as require_bool,
)
from .foreign_keywords import explain_unknown_keywords as explain_unknown_keywords
from .numbers.conversion import (
    converted as converted,
    promoted as promoted,
    rounded_first as rounded_first,
)
from .numbers.dtypes import (
    Accepts as Accepts,
    accumulator as accumulator,
    as_dtype as as_dtype,
    available as available,
    category as category,
    complex_of as complex_of,
    default_complex as default_complex,
    default_float as default_float,
    default_of as default_of,
    highest as highest,
    holds as holds,
    is_numeric as is_numeric,
    LONG as LONG,
    lowest as lowest,
    only_stores as only_stores,
    real_of as real_of,
    refuse_storage as refuse_storage,
)
from .numbers.min_max import min_max as min_max
from .numbers.positions import position_dtype as position_dtype
from .numbers.promotion import (
    compute_and_result as compute_and_result,
    joined as joined,
    Promote as Promote,
    result_dtype as result_dtype,
)
from .numbers.wide_integers import refuse_wide as refuse_wide
from .operators.block_splitting import (
    check_number_of_pieces as check_number_of_pieces,
    split_at as split_at,
    Splits as Splits,
)
from .operators.catalog import (
    Autocast as Autocast,
    OPERATORS as OPERATORS,
    OpSpec as OpSpec,
    REGISTRY as REGISTRY,
)
from .operators.concrete_values import peek as peek, peek_on_cpu as peek_on_cpu
from .operators.declaration import operator as operator
from .operators.roles import (
    ArrayDtypeScalar as ArrayDtypeScalar,
    ArrayLike as ArrayLike,
    ArrayOnly as ArrayOnly,
    ArrayOrArrays as ArrayOrArrays,
    ArrayOrUnroundedNumber as ArrayOrUnroundedNumber,
    Arrays as Arrays,
    ArraysOnly as ArraysOnly,
    ComputeDtypeScalar as ComputeDtypeScalar,
    Device as Device,
    Dim as Dim,
    Dims as Dims,
    DType as DType,
    Index as Index,
    Key as Key,
    Mask as Mask,
    RealArrayDtypeScalar as RealArrayDtypeScalar,
    RealScalar as RealScalar,
    SameKindScalar as SameKindScalar,
    Scalar as Scalar,
    Shape as Shape,
    UnpromotedArray as UnpromotedArray,
    UnpromotedArrayOrArrays as UnpromotedArrayOrArrays,
    UnpromotedArrays as UnpromotedArrays,
)
from .operators.value_requirements import (
    glanced as glanced,
    index_in_range as index_in_range,
    indices_at_hand as indices_at_hand,
    is_number as is_number,
    is_probability as is_probability,
    number_at_hand as number_at_hand,
    Requirement as Requirement,
    value_fits as value_fits,
)
from .randomness.generators import Generator as Generator
from .shapes.dimensions import (
    axes_of as axes_of,
    broadcasts_to as broadcasts_to,
    canonical_dim as canonical_dim,
    canonical_dims as canonical_dims,
    canonical_shape as canonical_shape,
)
from .shapes.symbolic_sizes import (
    as_number as as_number,
    as_scalar as as_scalar,
    bit_length as bit_length,
    decided as decided,
    differ as differ,
    known as known,
    known_sizes as known_sizes,
    repeat as repeat,
    Size as Size,
    slice_bounds as slice_bounds,
)


avoid_wrong_reductions()
