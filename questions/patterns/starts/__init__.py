"""Where questions may start in a document."""
