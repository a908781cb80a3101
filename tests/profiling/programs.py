"""A network whose lines the tests look for: each has a word of its own."""

import functx


F = functx.nn.functional


def hidden(w, x):
    with functx.profiler.record_function("hidden"):
        return F.gelu(x @ w)  # line: gelu


def loss(w, x, labels):
    h = hidden(w, x)  # line: hidden
    return F.cross_entropy(h, labels)  # line: entropy
