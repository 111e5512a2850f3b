"""One file with everything the database holds: taken from a live one, and put into an empty one. Knows no use case."""
