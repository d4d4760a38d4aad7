"""`python -m bot` is `selfrepair`."""

import sys

from bot.cli import main

sys.exit(main())
