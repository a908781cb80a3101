"""Ragged batches: sequences of differing lengths, and functions mapped over them.

- `arrays`: the batch that users see, made of arrays and taken apart again.
- `lengths`: how long a batch is padded to, and sizes that batches share.
- `mapping`: the transform.
- `lanes`: one lane of a call, whose function is recorded at symbolic sizes.
- `outputs`: what it returns.
- `sizes`: what symbolic sizes are of one sequence, padded and unpadded.
- `equations`, `padding`: how an equation is seen, and the visitor of a recorded program.
- `elementwise`, `moving`, `reshaping`, `reducing`, `ordering`, `products`, `indexing`,
  `writing`: rules of primitives.
- `loops`, `own_rules`: programs inside of an equation.
"""
