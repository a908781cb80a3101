"""`python -m functx`: the command line."""

from __future__ import annotations

from functx.cli import main


if __name__ == "__main__":
    main()
