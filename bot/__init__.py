"""The chat side: what people do becomes service calls, what the service says becomes cards."""
