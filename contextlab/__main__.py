"""`python -m contextlab` is the console command."""

import sys

from contextlab.cli import main

sys.exit(main())
