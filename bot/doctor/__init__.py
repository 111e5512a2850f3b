"""Checks of a chat's setup, against the chat's API and the service. Each failed check comes with its fix."""
