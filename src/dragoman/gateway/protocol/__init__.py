"""What clients send and get: the bodies of requests as typed values, checked, and errors in OpenAI's shape."""
