"""Pure rules: calendar, question choice, scoring and standings. No database and no clock."""
