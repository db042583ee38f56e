"""A daily bilingual digest: gather, choose, write, lay out, deliver."""

__version__ = "0.1.0"

__all__ = ["__version__"]
