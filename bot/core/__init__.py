"""The platform-free half of the bot."""
