"""Random calls of functx's operators beside PyTorch's: `python -m tests.parity.fuzz --help`.

`draws` makes a call of an operator and a seed, `outcomes` makes it on both sides, `judging` says
in what they differ, `running` does all of it for many seeds, `workers` in processes with limits.
"""
