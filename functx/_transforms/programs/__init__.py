"""Recorded programs (jaxprs): how they are made, read and run.

- `recording`: a function as a program of arrays.
- `interpreting`: runs a program, each equation by a visitor.
- `nested`: which equations run programs that a visitor can go into, and how.
- `walking`: equations, and the programs inside them.
- `labels`: what an equation is to its author.
- `dependence`, `memory`: what depends on what, and how many bytes are alive at once.
- `partition`: the arrays of a tree, and its other leaves.
"""
