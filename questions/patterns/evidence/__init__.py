"""Reasons to believe that the places where questions may start are questions."""
