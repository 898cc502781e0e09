"""``python -m sottovoce`` is the command ``sottovoce``."""

from sottovoce.cli.main import main

main()
