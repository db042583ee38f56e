"""An editor's Markdown as safe HTML: paragraphs, lists, links and emphasis; nothing that runs, loads or styles."""

from __future__ import annotations

import nh3
from markdown import markdown
from markupsafe import Markup

_TAGS = {"p", "br", "em", "strong", "a", "ul", "ol", "li", "blockquote", "code", "pre", "h3", "h4", "hr"}
_LOWERED = {"h1": "h3", "h2": "h3"}


def letter(text: str) -> Markup:
    """The letter as HTML; headings begin at the third level, links keep only http and https."""
    html = markdown(text, extensions=["sane_lists"], output_format="html")
    for high, low in _LOWERED.items():
        html = html.replace(f"<{high}>", f"<{low}>").replace(f"</{high}>", f"</{low}>")
    return Markup(nh3.clean(html, tags=_TAGS, attributes={"a": {"href", "title"}}, url_schemes={"http", "https", "mailto"}, link_rel="noopener noreferrer"))  # noqa: S704  # nh3 has just made it safe
