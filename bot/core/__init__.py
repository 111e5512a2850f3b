"""The part of the bot that no chat platform changes: commands, cards, the quiz and the outbox dispatcher."""
