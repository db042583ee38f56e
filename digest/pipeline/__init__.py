"""The three acts: collect, make, deliver. The only place that knows the order of the steps."""

from digest.pipeline.collecting import collect, due
from digest.pipeline.delivering import build, deliver
from digest.pipeline.making import make
from digest.pipeline.parts import Parts, Reading

__all__ = ["Parts", "Reading", "build", "collect", "deliver", "due", "make"]
