"""Curvature: Laplacians, derivatives of any order, diagonals, Gauss-Newton and Fisher matrices.

- `propagation`: runs a recorded program on values that carry derivatives.
- `equations`: one equation as a function, and what is known of its derivatives.
- `curved_values`, `laplacian_rules`, `dependence_indices`, `laplacian`: the forward Laplacian.
- `series`, `taylor_rules`, `jet`: Taylor mode, and mixed partial derivatives.
- `diagonals`: the diagonals of Hessians and Jacobians.
- `implicit_matrices`, `gauss_newton`, `likelihoods`, `fisher`: matrices that are known by products.
"""
