"""Grammars that engines enforce: rules as values, JSON Schema as rules, and the notations of the engines."""
