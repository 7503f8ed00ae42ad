"""``python -m movers`` is the command line."""

import sys

from movers.cli import main

sys.exit(main())
