"""Files that are there whole or not at all, and limits of what is read."""
