"""Grammars as values, and the machine that runs them over text that arrives in pieces; knows nothing of models.

`build` has the words to write one with, `analyze` says what is wrong with it and how much it holds back, `program` and
`machine` run it, `show` prints it.
"""
