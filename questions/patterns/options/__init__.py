"""Options of a question and their key: lists, tables, marks, letters, and lists of keys elsewhere."""
