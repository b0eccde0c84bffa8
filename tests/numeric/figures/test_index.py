"""The index and the list of mistakes."""

import json

import pytest

from numeric.checker.contracts import contract_named, contract_names
from numeric.figures import index
from numeric.figures.collection import chosen, names
from numeric.figures.figure import Figure
from proofs.registry import all_claims

SOME = ("attention_masks", "position_similarity")
KNOWN = {claim.name for claim in all_claims()}


@pytest.fixture(scope="module")
def texts():
    return index.documents(chosen(SOME), "ko", 3)


def test_every_file_of_the_index_is_there_in_the_order_of_the_collection(texts):
    data = json.loads(texts["figures.json"])
    assert (data["language"], data["seed"], data["mistakes"]) == ("ko", 3, "mistakes.json")
    assert [each["name"] for each in data["figures"]] == [name for name in names() if name in SOME]
    assert set(texts) == {each["file"] for each in data["figures"]} | {"figures.json", "mistakes.json"}
    for each in data["figures"]:
        assert list(each) == ["name", "file", "width", "height", "title", "caption", "alt", "theorems"]
        assert f'viewBox="0 0 {each["width"]} {each["height"]:g}"' in texts[each["file"]]
        assert set(each["theorems"]) <= KNOWN


def test_the_mistakes_are_those_of_every_contract(texts):
    data = json.loads(texts["mistakes.json"])
    expected = [(name, known.id, known.says) for name in contract_names() for known in contract_named(name).mistakes]
    assert [(each["contract"], each["id"], each["says"]) for each in data] == expected
    assert {each["kind"] for each in data} == {"mistake", "variant", "unstable"}
    assert {each["contract"] for each in data} == set(contract_names())


def test_every_mistake_names_a_theorem_that_there_is(texts):
    assert {each["theorem"] for each in json.loads(texts["mistakes.json"])} <= KNOWN


def test_the_same_again_is_the_same_to_the_byte(texts):
    assert index.documents(chosen(SOME), "ko", 3) == texts


def test_what_is_drawn_next_is_told():
    told = []
    index.documents(chosen(SOME), "en", 0, lambda number, name: told.append((number, name)))
    assert told == [(0, "position_similarity"), (1, "attention_masks")]


def test_files_are_written_as_they_are(tmp_path, texts):
    index.write(tmp_path, texts)
    assert {path.name: path.read_bytes().decode() for path in tmp_path.iterdir()} == texts


def test_a_figure_is_saved_under_its_name():
    assert Figure("some_name", ("a.b",), lambda words, seed: None).file == "some_name.svg"
