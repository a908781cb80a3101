"""Sparse derivatives: patterns found by tracing, colourings, and derivatives from few products.

- `row_sets`, `patterns`: sets of inputs, one for each element; the pattern that users see.
- `equations`, `tracing`: how an equation is seen, and the visitor of a recorded program.
- `elementwise`, `moving`, `indexing`, `summing`, `products`, `windows`: rules of primitives.
- `loops`: programs inside of an equation.
- `detection`: the pattern of a function's Jacobian or Hessian.
- `coloring`, `symmetric_coloring`, `forests`: which rows or columns share a product.
- `recovery`, `derivatives`: the entries out of the products, and the transforms.
"""
