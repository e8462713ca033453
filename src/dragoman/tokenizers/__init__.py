"""Vocabularies: text to token ids and back, behind one small protocol; adapters for the libraries that have them."""
