"""Hostile texts: incomplete Markdown, unclosed marks, mentions, and combining marks of every script."""

from hypothesis import strategies as st

_PIECES = (
    *("```", "`", "``", "**", "*", "~~", "_", "\\", "\n", "\n\n", "- ", "1. ", "> ", "# ", "-# ", "word ", "$x^2$"),
    *("@everyone", "@here", "<@1>", "<#2>", "<@&3>", "<!channel>", ":b:", "||", "https://evil.example"),
    *("|a|b|\n|-|-|\n|c|d|\n", "[x](http://a.b/@here)", "  - nested\n", "   ```\ncode\n```\n"),
    *("\u200b", "\u200d", "مرحبا", "נכון", "👩‍👩‍👧", "e" + "\u0301" * 9),
)
MARKDOWN = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=12)), max_size=40).map("".join)
LONG_MARKDOWN = st.tuples(MARKDOWN, st.integers(1, 120)).map(lambda pair: pair[0] * pair[1])
ANY_MARKDOWN = st.one_of(MARKDOWN, LONG_MARKDOWN)
