"""Pure rules: calendar, choosing, scoring and standings. No database, no clock."""
