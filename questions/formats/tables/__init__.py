"""Questions in tables: CSV, spreadsheets, and the rows of Anki notes."""
