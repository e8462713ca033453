"""The gateway: one OpenAI-compatible door in front of workers that speak tokens, raw text, or chats.

`pipeline` is what happens to a request, stage by stage; `app` are the endpoints, `workers` the protocols of the servers
behind, `config` all that can be set. Nothing above this layer does network I/O.
"""
