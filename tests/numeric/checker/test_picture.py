import pickle
from xml.etree import ElementTree

import numpy as np
import pytest

from numeric.checker.drawing import Scale, errors_by_entry, errors_by_probe, map_of_entries
from numeric.checker.picture import COLUMNS, ROWS, Picture, blocked


def picture_of(*arrays):
    picture = Picture()
    for number, array in enumerate(arrays):
        picture.add(f"probe {number}", np.asarray(array, dtype=float))
    return picture


def test_the_worst_probe_is_kept_and_counted():
    picture = picture_of([0.5, 0.25], [0.0, 3.0, 250.0, 20.0, np.inf], [1.0])
    assert picture.ratios == {"probe 0": 0.5, "probe 1": np.inf, "probe 2": 1.0}
    assert (picture.probe, picture.shape) == ("probe 1", (5,))
    assert (picture.equal, picture.infinite, picture.decades) == (1, 1, {0: 1, 1: 1, 2: 1})
    assert picture.blocks.shape == (1, 5)


def test_every_entry_counts_in_one_block():
    ratios = np.zeros((3, 64, 4096))
    assert blocked(ratios).shape == (ROWS, COLUMNS)
    ratios[1, 63, 4095] = 7
    ratios[2, 0, 100] = 5
    blocks = blocked(ratios)
    assert blocks[-1, -1] == 7 and (blocks > 0).sum() == 2
    assert blocks[0].max() == 5
    small = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(blocked(small), small)


def test_a_scalar_has_no_map():
    assert picture_of(np.array(0.5)).blocks is None
    assert map_of_entries(picture_of(np.array(0.5))) is None


def test_a_picture_travels():
    picture = pickle.loads(pickle.dumps(picture_of([0.5, 2.0])))
    assert picture.ratios == {"probe 0": 2.0}


@pytest.mark.parametrize("ratios", [[0.0], [np.inf], [1e-320, 1e300], [0.5], [], [1.0, np.inf, 0.0]])
def test_places_are_on_the_drawing_and_in_order(ratios):
    scale = Scale(ratios)
    places = [scale.place(each) for each in sorted({0.0, 1.0, np.inf, *ratios})]
    assert places == sorted(places)
    assert 0 < places[0] < places[-1] < 360


@pytest.mark.parametrize(
    "array", [[0.0], [np.inf], [1e-320, 1e300], 10.0 ** np.arange(-30, 30), np.full((40, 90), 0.3)]
)
def test_any_ratios_can_be_drawn(array):
    picture = picture_of(array)
    for drawing in (errors_by_probe(picture), errors_by_entry(picture), map_of_entries(picture)):
        root = ElementTree.fromstring(drawing)
        assert float(root.get("viewBox").split()[3]) > 0
        for rect in root.findall("rect"):
            assert float(rect.get("width")) >= 0 and float(rect.get("x")) + float(rect.get("width")) <= 360.5


def test_the_counts_of_a_histogram_add_up():
    drawing = ElementTree.fromstring(errors_by_entry(picture_of([0.0, 1e-9, 1e-9, 0.5, 2.0, np.inf])))
    counts = [
        int(each.text) for each in drawing.findall("text") if each.text.isdigit() and each.get("text-anchor") is None
    ]
    assert sum(counts) == 6
