"""What only the papers need: stress tests, HUSE, mined references, studies of easy texts."""
