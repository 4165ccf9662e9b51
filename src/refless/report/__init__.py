"""Results -> views -> text, Markdown, CSV, JSON."""
