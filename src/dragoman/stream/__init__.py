"""Streams of other people's formats, and dragoman's events: the codecs and what corrects them; no network, no clock."""
