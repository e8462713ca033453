"""Measures of the gateway beside another one: processor time per token, time to the first token, memory, losses."""
