"""The format in which Dailygrad ships and exports banks as Markdown."""
