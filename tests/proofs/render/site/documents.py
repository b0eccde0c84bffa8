"""Pages read as a browser does, without one: what they link to, their headings, and the formulas on them."""

from html.parser import HTMLParser

HEADINGS = ("h1", "h2", "h3", "h4")


class Document(HTMLParser):
    """The elements of a page in order, with their attributes."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.path, self.elements, self.title, self._open = path, [], "", []
        self.headings, self.texts = [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open.append(tag)
        if tag in HEADINGS:
            self.headings.append([tag, ""])

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        self.texts.append(data)
        if "title" in self._open and "svg" not in self._open:
            self.title += data
        for tag in HEADINGS:
            if tag in self._open:
                self.headings[-1][1] += data

    def with_attribute(self, name):
        return [(tag, attributes[name]) for tag, attributes in self.elements if name in attributes]

    @property
    def ids(self):
        return [value for _, value in self.with_attribute("id")]

    @property
    def formulas(self):
        return [value for tag, value in self.with_attribute("data-latex") if tag == "math"]

    @property
    def links(self):
        return [value for tag, value in self.with_attribute("href") if tag in ("a", "link")]


def documents(folder):
    """Every page of a site by its way from the site's folder."""
    return {str(path.relative_to(folder)): Document(path) for path in sorted(folder.rglob("*.html"))}
