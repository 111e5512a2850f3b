"""Members and their workspaces: profiles, linking, installations, audit."""
