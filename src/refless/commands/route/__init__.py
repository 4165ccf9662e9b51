"""route: outputs that a licensed judge decides alone, and those for people."""
