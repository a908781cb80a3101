"""Operators over the elements that a mask keeps."""
