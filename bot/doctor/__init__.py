"""Checks of a chat's setup, each with its fix: what the chat itself says, and what the service says."""
