"""Operating Dailygrad: doctor, overview, metrics and backups."""
