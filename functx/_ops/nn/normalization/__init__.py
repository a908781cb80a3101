"""Normalization to a mean of 0 and a variance of 1, over a batch, a group of channels or trailing
dimensions.
"""
