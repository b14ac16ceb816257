"""Drawings: text with ANSI escapes, and what plain text, HTML and a terminal show of it."""

from __future__ import annotations

import html
import os
import re
import sys

_ESCAPE = re.compile("\x1b\\[([0-9;]*)m")

# The colours of a terminal, legible on a light and on a dark background.
_COLOURS = {
    **dict(zip(range(30, 38), ("inherit", "#c33", "#393", "#a70", "#36c", "#a3a", "#088", "inherit"), strict=True)),
    **dict(zip(range(90, 98), ("#888", "#c33", "#393", "#a70", "#36c", "#a3a", "#088", "inherit"), strict=True)),
}


def plain(ansi: str) -> str:
    """The text without escapes."""
    return _ESCAPE.sub("", ansi)


def as_html(ansi: str) -> str:
    """The text as a ``<pre>``, with its escapes as styles."""
    parts = ['<pre style="line-height: 1.25; white-space: pre">']
    bold = dim = False
    colour: str | None = None
    # `split` gives texts (even indices) and the parameters of the escapes between them (odd indices).
    for i, part in enumerate(_ESCAPE.split(ansi)):
        if i % 2 == 0:
            style = [("font-weight: bold", bold), ("opacity: 0.6", dim), (f"color: {colour}", colour)]
            css = "; ".join(rule for rule, wanted in style if wanted)
            text = html.escape(part, quote=False)
            parts.append(f'<span style="{css}">{text}</span>' if css and part else text)
            continue
        for number in (int(number or 0) for number in part.split(";")):
            if number == 0:
                bold, dim, colour = False, False, None
            elif number == 1:
                bold = True
            elif number == 2:
                dim = True
            elif number in _COLOURS:
                colour = _COLOURS[number]
    parts.append("</pre>")
    return "".join(parts)


def for_terminal(ansi: str) -> str:
    """The text with its escapes if standard output is a terminal and the user does not ask for plain text (no-color.org)."""
    plain_wanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return ansi if not plain_wanted and sys.stdout and sys.stdout.isatty() else plain(ansi)


class Drawing:
    """A result with a drawing: plain text by ``str()``, HTML in a notebook."""

    __slots__ = ()

    #: The drawing with ANSI escapes.
    ansi: str

    def __str__(self) -> str:
        return plain(self.ansi)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return as_html(self.ansi)
