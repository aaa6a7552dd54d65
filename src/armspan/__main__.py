"""`python -m armspan` is the command line, as `armspan` is."""

from armspan.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
