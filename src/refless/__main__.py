"""python -m refless, and the command refless."""

from refless.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
