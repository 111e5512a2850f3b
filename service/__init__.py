"""The question service: rounds, answers, points, boards and practice, kept in Postgres. It never calls the bot."""
