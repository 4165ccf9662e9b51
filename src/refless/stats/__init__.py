"""Statistics of refless: arrays and a generator in, numbers out, no text."""
