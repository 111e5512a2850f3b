"""Pages and outlines as Markdown: HTML, notebooks, Org, reStructuredText, AsciiDoc."""
