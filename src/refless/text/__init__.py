"""Tokens, n-grams, surface numbers, encoders."""
