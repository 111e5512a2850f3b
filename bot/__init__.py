"""The bots: convert what people do in a chat to service calls, and results to cards."""
