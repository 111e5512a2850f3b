"""Code that runs next to submitted code, inside the jail. Nothing here is trusted."""
