"""What GitHub makes of a Markdown text: its own renderer (cmark-gfm), then its rules for mentions and references."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

VOID = {"br", "hr", "img", "input"}
MENTION = re.compile(r"(?<![\w`/.])@[A-Za-z0-9]")
REFERENCE = re.compile(r"(?i)(?<!\w)#\d|\w#\d|\bgh-\d")
COMMIT_COMMAND = re.compile(r"(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|skip-checks:")


@dataclass
class Page:
    """A rendered text: `tags` in order, `text` outside code, `code` inside, `whole` both; `stray`: unbalanced tags."""

    html: str = ""
    tags: list[str] = field(default_factory=list)
    text: str = ""
    whole: str = ""
    code: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    stray: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)

    @property
    def active(self) -> list[str]:
        """What GitHub would notify, link or close."""
        return [match[0] for pattern in (MENTION, REFERENCE) for match in pattern.finditer(self.text)]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page, self.open = Page(), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.tags.append(tag)
        self.page.attributes += [name for name, _ in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "code":
            self.page.code.append("")

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.page.stray.append(tag)

    def handle_data(self, data: str) -> None:
        self.page.whole += data
        if "code" in self.open:
            self.page.code[-1] += data
        else:
            self.page.text += data

    def handle_comment(self, data: str) -> None:
        self.page.comments.append(data)


def render(markdown: str) -> Page:
    """The page with raw HTML as it stands (GitHub filters it later: what is absent here is absent there)."""
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.page.stray += reader.open
    reader.page.html = html
    return reader.page
