"""A figure: its name, the theorems that it shows, and how it is drawn; and the SVG document that becomes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from ..arithmetic import precision
from .catalogue import Words
from .drawing import WIDTH, Drawing
from .markup import html, plain
from .style import NAME, style

Draw = Callable[[Words, int], Drawing]
TITLE_AT = 15
BITS = 128  # of the balls that are drawn


@dataclass(frozen=True)
class Figure:
    """`draw` takes the messages of a language and a seed; the drawing leaves room for the title, which is set here."""

    name: str
    theorems: tuple[str, ...]  # as `python -m proofs list` has them, with their families
    draw: Draw

    @property
    def file(self) -> str:
        return f"{self.name}.svg"


@dataclass(frozen=True)
class Drawn:
    """A figure in one language; its texts have the markup of markup.py."""

    figure: Figure
    svg: str
    height: float
    title: str
    caption: str
    alt: str

    def as_dict(self) -> dict[str, object]:
        """Its entry in the index."""
        name = self.figure.name
        return {
            "name": name,
            "file": self.figure.file,
            "width": WIDTH,
            "height": self.height,
            **{part: self._told(part) for part in ("title", "caption", "alt")},
            "theorems": list(self.figure.theorems),
        }

    def _told(self, part: str) -> dict[str, str]:
        """The key of a message and what it says, as plain text and for a page."""
        text = getattr(self, part)
        return {"key": f"{self.figure.name}.{part}", "text": plain(text), "html": html(text)}


def drawn(figure: Figure, words: Words, seed: int) -> Drawn:
    """The figure as an SVG document that needs nothing else; balls are so narrow that a number is drawn where it is."""
    with precision(BITS):
        drawing = figure.draw(words, seed)
    return written(figure, words, drawing)


def written(figure: Figure, words: Words, drawing: Drawing) -> Drawn:
    """The document of a drawing, on which the title is set first."""
    title, caption, alt = (words(f"{figure.name}.{part}", **drawing.numbers) for part in ("title", "caption", "alt"))
    drawing.label(4, TITLE_AT, title, size="title")
    svg = _document(figure, words.language, drawing, plain(title), plain(alt))
    return Drawn(figure, svg, drawing.height, title, caption, alt)


def _document(figure: Figure, language: str, drawing: Drawing, title: str, alt: str) -> str:
    named = f"figure-{figure.name}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{NAME}" viewBox="0 0 {WIDTH} {drawing.height:g}" role="img" '
        f'lang="{language}" aria-labelledby="{named}-title" aria-describedby="{named}-alt" '
        f'data-theorems="{" ".join(figure.theorems)}">'
    )
    told = (
        f'<title id="{named}-title">{escape(title, quote=False)}</title>\n'
        f'<desc id="{named}-alt">{escape(alt, quote=False)}</desc>'
    )
    return "\n".join([head, told, f"<style>{style()}</style>", *drawing.parts, "</svg>", ""])
