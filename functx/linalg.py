"""torch.linalg's names."""

from ._names import equip as _equip
from ._ops.linalg.hermitian_functions import hermitian_function as hermitian_function
from ._ops.linalg.matrix_arguments import LinAlgError as LinAlgError
from ._ops.linalg.singular_value_functions import (
    singular_value_function as singular_value_function,
    singular_value_sum as singular_value_sum,
)


# Operators, written by `python -m tests.write_facades`.
# isort: split
from ._ops.linalg.determinants import det as det, slogdet as slogdet
from ._ops.linalg.diagonals import diagonal as diagonal
from ._ops.linalg.eigenvalues import eig as eig, eigvals as eigvals
from ._ops.linalg.exponential import matrix_exp as matrix_exp
from ._ops.linalg.factorizations import (
    cholesky as cholesky,
    eigh as eigh,
    eigvalsh as eigvalsh,
    qr as qr,
)
from ._ops.linalg.householder import householder_product as householder_product
from ._ops.linalg.ldl import (
    ldl_factor as ldl_factor,
    ldl_factor_ex as ldl_factor_ex,
    ldl_solve as ldl_solve,
)
from ._ops.linalg.least_squares import lstsq as lstsq
from ._ops.linalg.lu import (
    lu as lu,
    lu_factor as lu_factor,
    lu_factor_ex as lu_factor_ex,
    lu_solve as lu_solve,
)
from ._ops.linalg.matrix_norms import cond as cond, matrix_norm as matrix_norm, norm as norm
from ._ops.linalg.products import multi_dot as multi_dot, vecdot as vecdot
from ._ops.linalg.pseudoinverse import pinv as pinv
from ._ops.linalg.ranks import matrix_rank as matrix_rank
from ._ops.linalg.repeated_products import matrix_power as matrix_power
from ._ops.linalg.singular_values import svd as svd, svdvals as svdvals
from ._ops.linalg.solving import inv as inv, solve as solve
from ._ops.linalg.tensor_equations import tensorinv as tensorinv, tensorsolve as tensorsolve
from ._ops.linalg.triangular import solve_triangular as solve_triangular
from ._ops.linalg.vandermonde import vander as vander
from ._ops.linalg.vector_norms import vector_norm as vector_norm
from ._ops.linalg.vector_products import cross as cross
from ._ops.linalg.with_info import (
    cholesky_ex as cholesky_ex,
    inv_ex as inv_ex,
    solve_ex as solve_ex,
)
from ._ops.products.matrices import matmul as matmul


# End of operators.

_equip(__name__)
