"""Wire formats to events and back: server-sent events, OpenAI's chat chunks, and streams that others have parsed.

Everything here is fed and finished like a parser, and knows no network: who reads and writes the bytes is the gateway.
"""
