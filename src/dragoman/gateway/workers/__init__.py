"""The servers behind the gateway: what is asked of them, what they give, and one file for each of their protocols."""
