"""Operating Dailygrad: backups."""
