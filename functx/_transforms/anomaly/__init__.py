"""The first operator whose value, tangent or cotangent is not a number."""
