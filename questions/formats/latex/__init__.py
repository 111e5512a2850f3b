"""Questions in LaTeX."""
