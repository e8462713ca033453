"""Vocabularies: text to token ids and back, behind one small protocol; adapters for the libraries that have them."""

from .control import control_pattern, one_of
from .decode import TokenDecoder, decode
from .load import SHIPPED, get_tokenizer
from .protocol import Tokenizer

__all__ = ["SHIPPED", "TokenDecoder", "Tokenizer", "control_pattern", "decode", "get_tokenizer", "one_of"]
