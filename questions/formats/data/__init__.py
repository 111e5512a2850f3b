"""Questions in data: JSON, JSON Lines, YAML, TOML, and whatever else is loaded as records."""
