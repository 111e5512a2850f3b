"""The daily round: schedules, posts, answers, grading, points and practice."""
