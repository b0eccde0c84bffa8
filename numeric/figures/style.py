"""How figures look: in light and in dark, on a page, in an <img> and by themselves.

Colours are CSS variables: a page that has its own sets `--figure-ink` and the others on an element around the figure, or on the
figure; one with a switch sets `data-theme` of its root to "light" or "dark". Without either the reader's system decides. Blue
and orange keep apart for colour-blind readers, and no two series differ by colour alone. The paper is the page's: nothing is
painted behind a figure.
"""

NAME = "transformer-figure"  # the class of every figure; what is said of others' elements would show on the whole page

LIGHT = {"ink": "#1c2430", "faint": "#566070", "line": "#d5dbe3", "one": "#0067a5", "two": "#b04600"}
DARK = {"ink": "#e4e8ee", "faint": "#9aa5b4", "line": "#38424f", "one": "#62b5f2", "two": "#f39a4a"}
PAPER = {"light": "#ffffff", "dark": "#12161c"}  # what they are meant to be read on

SIZES = {"title": 14.0, "label": 12.0, "small": 11.0}  # of letters, in units of a figure
WIDE, AT_WIDE = 560, 10.0  # where a figure is wider than this in pixels, labels need be no larger than that
LOW = 0.75  # of a letter in the place of an exponent or an index, as a part of the others

FONTS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Apple SD Gothic Neo","Malgun Gothic","Noto Sans KR",sans-serif'


def style() -> str:
    """The style sheet that stands in each figure."""
    of = f".{NAME}"
    return "".join(
        [
            f":root{{{_variables(LIGHT)}}}",
            f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{_variables(DARK)}}}}}",
            f":root[data-theme=dark]{{{_variables(DARK)}}}",
            f"{of}{{color-scheme:light dark;font:{SIZES['label']:g}px {FONTS}}}",
            f"{of} text{{fill:var(--figure-ink)}}",
            f"{of} .title{{font-size:{SIZES['title'] / SIZES['label']:.3g}em;font-weight:600}}",
            f"{of} .small{{font-size:{SIZES['small'] / SIZES['label']:.3g}em}}",
            f"@media (min-width:{WIDE}px){{{of}{{font-size:{AT_WIDE:g}px}}}}",
            *(f"{of} text.{each}{{fill:var(--figure-{each});stroke:none}}" for each in ("one", "two")),
            f"{of} text.soft{{fill:var(--figure-faint)}}",
            f"{of} .low{{font-size:{LOW}em}}",
            f"{of} .variable{{font-style:italic}}",
            f"{of} path,{of} line{{fill:none;stroke:var(--figure-ink);stroke-width:1.5;stroke-linejoin:round}}",
            f"{of} .grid{{stroke:var(--figure-line);stroke-width:1}}",
            f"{of} .axis{{stroke:var(--figure-faint);stroke-width:1}}",
            *(f"{of} .{each}{{stroke:var(--figure-{each})}}" for each in ("ink", "faint", "one", "two")),
            *(f"{of} .{each}.full{{fill:var(--figure-{each});stroke:none}}" for each in ("ink", "faint", "one", "two")),
            f"{of} .thick{{stroke-width:2.5}}",
            f"{of} .hollow{{fill:none;stroke-width:1.5}}",
            f"{of} .dashed{{stroke-dasharray:5 3}}",
            f"{of} .wash{{fill-opacity:.2}}",
            f"{of} .cells{{stroke-width:1;shape-rendering:crispEdges}}",
        ]
    )


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--figure-{name}:{colour};" for name, colour in colours.items())
