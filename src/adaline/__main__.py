"""`python -m adaline` is the command `adaline`."""

from adaline.cli import main

if __name__ == "__main__":
    main()
