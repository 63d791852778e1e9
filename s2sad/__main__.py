"""`python -m s2sad` is the command `s2sad`."""

import sys

from s2sad.cli import main

sys.exit(main())
