"""Exports of tools in which ratings already live."""
