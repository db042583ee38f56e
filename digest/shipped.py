"""Where the files are that come with the program: ``feeds.yaml``, ``templates/`` and ``examples/``.

In an installed package they lie beside the code; in a source tree, at its top.
"""

from pathlib import Path

_PACKAGED = Path(__file__).parent / "_shipped"
SHIPPED = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parent.parent
