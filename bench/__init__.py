"""Measures the parser: ``python -m bench``; how and what is told in ``docs/performance.md``.

`text` writes realistic text and cuts it as a tokenizer would, `workloads` makes outputs of models of it, `clock` and
`streaming` time them, `whole` and `hostile` measure what is no stream of ordinary chunks, `peer` a parser that is
not ours, `profiling` shows where the time goes, and `tables` prints.
"""
