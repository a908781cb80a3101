"""Grad modes: regions and functions whose results have no derivative, or a restricted one."""
