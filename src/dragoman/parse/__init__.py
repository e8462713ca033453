"""Text to events (`parser`), bytes to text (`decode`), events to messages (`assemble`), code in content (`fences`)."""
