"""Whether a sentence says more than its source: figures, bounds, metrics, baselines, names, negations, superlatives.

Plain rules over both languages, no model. ``verdicts.judge`` is the door.
"""
