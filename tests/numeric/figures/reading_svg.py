"""Reads figures back: the elements of a drawing, the points that they pass through, and which labels they meet."""

import re
from itertools import pairwise
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = r"-?\d+(?:\.\d+)?"


def elements(drawing):
    """Of a Drawing, in the order in which they are painted."""
    return list(ElementTree.fromstring(f"<svg>{''.join(drawing.parts)}</svg>"))


def of_kind(drawing, tag, *kinds):
    """The elements of one tag whose class has all these kinds."""
    return [each for each in elements(drawing) if each.tag == tag and {*kinds} <= {*each.get("class", "").split()}]


def points(path):
    """The corners of a path that is drawn by moves and straight lines."""
    places = re.findall(rf"[ML]({NUMBER}) ({NUMBER})", path.get("d"))
    return [(float(x), float(y)) for x, y in places]


def centre(mark):
    """Of a circle, rectangle or triangle."""
    if mark.tag == "circle":
        return float(mark.get("cx")), float(mark.get("cy"))
    if mark.tag == "rect":
        x, y, width, height = (float(mark.get(name)) for name in ("x", "y", "width", "height"))
        return x + width / 2, y + height / 2
    x, y = points(mark)[0]
    return x + 3.2, y - 2.6


def passes(path):
    """Places at most a unit apart along a path."""
    corners = points(path)
    for (x0, y0), (x1, y1) in pairwise(corners):
        steps = int(max(abs(x1 - x0), abs(y1 - y0))) + 1
        for step in range(steps + 1):
            yield x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps


def holds(box, place):
    return box.left < place[0] < box.right and box.top < place[1] < box.bottom


def collisions(drawing, width):
    """What is not as it should be: labels over each other or over the edge, marks and curves under labels."""
    boxes = drawing.labels
    for number, box in enumerate(boxes):
        if box.left < 0 or box.right > width or box.top < 0 or box.bottom > drawing.height:
            yield f"{box.text!r} leaves the drawing"
        yield from (f"{box.text!r} lies on {other.text!r}" for other in boxes[:number] if box.overlaps(other))
    for each in elements(drawing):
        kinds = {*each.get("class", "").split()}
        if each.tag == "path" and not kinds & {"grid", "axis", "full"}:
            places = list(passes(each))
        elif each.tag in ("circle", "rect", "path") and not kinds & {"grid", "axis", "wash"}:
            places = [centre(each)]
        else:
            continue
        for box in boxes:
            if any(holds(box, place) for place in places):
                yield f"{box.text!r} lies on a {each.tag} ({each.get('class')})"
