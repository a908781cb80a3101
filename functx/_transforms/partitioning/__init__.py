"""What a derivative keeps of the forward pass, and what its backward pass computes again.

- `linearized`: a program as its forward pass and its linear pass, which reads the forward pass.
- `numbered`: the same by numbers, with sizes and work.
- `operator_calls`: which call of an operator an equation belongs to.
- `work`: how many bytes a value takes, and how much work an equation is.
- `cutting`: which values to keep, at a price for each byte, by a minimum cut.
- `segments`: the parts of a backward pass that compute again what they need, one after the other.
- `planning`: what to keep for a budget of bytes.
- `choices`: what a user asks for.
- `following`: a program whose derivative does as it was planned.
"""
