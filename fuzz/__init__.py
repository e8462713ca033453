"""Looks for inputs that break a promise of the parser: ``python -m fuzz``.

`soup` makes inputs, `promises` judges them, `shrink` makes a failing one small, `bytewise` does the same for bytes
and `growth` watches the clock. Nothing here is random without a seed: each input has a number, and the same
seed and number give the same input.
"""
