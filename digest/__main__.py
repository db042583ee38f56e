"""``python -m digest``."""

from digest.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
