"""Measurements: what the parts cost, how well the whole repairs."""
