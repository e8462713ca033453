"""Conversations to tokens: layouts and chat templates write segments, which are encoded with their provenance."""
