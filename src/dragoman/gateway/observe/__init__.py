"""What the gateway tells of itself: metrics for Prometheus, logs, and the trace that a request is part of."""
