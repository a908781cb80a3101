"""How far results may be off that entries share, and why: floors of what cancels, and no ulp."""

from __future__ import annotations

from .opinfo import Floor


EXACT = 0.0  # ulps of what is picked or moved, not computed

SUMS = Floor(8, "terms of a sum are rounded one by one, and may cancel")
SHARES = Floor(8, "shares of 1 are summed, and cancel at the ends of a window", scale=1)
FACTORED = Floor(16, "elimination and rotations mix all elements of a matrix, each rounded")
WEIGHTED = Floor(8, "weights that depend on sizes are rounded before they are summed")
AT_ROOTS = Floor(8, "near a root the function is a difference of larger numbers", elementwise=True)
