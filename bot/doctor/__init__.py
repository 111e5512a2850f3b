"""What is wrong with a chat's setup, and how to mend it: asked of the chat itself and of the service."""
