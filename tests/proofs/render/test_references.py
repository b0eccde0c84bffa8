"""What theorems cite: every family does, every work is cited, and the BibTeX is BibTeX."""

import re

import pytest

from proofs.axioms import AXIOMS
from proofs.registry import families
from proofs.render import RenderError
from proofs.render.families import sections
from proofs.render.references import bibtex, citations, cited, cited_by, references
from proofs.theorems.softmax import positive

NEEDED = {
    "article": {"author", "title", "journal", "year"}, "inproceedings": {"author", "title", "booktitle", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"}, "book": {"author", "title", "publisher", "year"},
    "misc": {"author", "title", "year"},
}  # fmt: skip
ENTRY = re.compile(r"@(\w+)\{([a-z][a-z0-9]*),\n((?:  \w+ = \{.*\},\n)+)\}\n")


def parsed(text):
    """The entries of a .bib as {key: (type, fields)}; AssertionError where it is none."""
    found = {}
    rest = text
    while rest:
        match = ENTRY.match(rest)
        assert match, f"no entry of a .bib: {rest[:80]!r}"
        kind, key, body = match.groups()
        assert key not in found, f"{key} stands there twice"
        fields = dict(re.fullmatch(r"  (\w+) = \{(.*)\},", line).groups() for line in body.splitlines())
        for name, value in fields.items():
            depths = [value[:k].count("{") - value[:k].count("}") for k in range(len(value) + 1)]
            assert min(depths) == depths[-1] == 0, f"{key}: the braces of {name} do not match"
            unescaped = re.sub(r"\\[&%#$]|\$[^$]*\$", "", value)
            assert name in ("url", "doi") or not re.search("[&%#$]", unescaped), f"{key}: {name} has a bare sign"
        found[key] = kind, fields
        rest = rest[match.end() :].removeprefix("\n")
    return found


def test_bibtex_of_everything():
    text = bibtex()
    assert text.isascii()
    entries = parsed(text)
    assert set(entries) == set(references())
    for key, (kind, fields) in entries.items():
        assert NEEDED[kind] <= set(fields), key
        assert all(value.strip() for value in fields.values())
    assert entries["vaswani2017attention"][1]["author"].endswith(r"{\L}ukasz Kaiser and Illia Polosukhin")
    assert entries["niven1947simple"][1]["title"] == r"{A simple proof that $\pi$ is irrational}"
    assert entries["ba2016layer"][1]["howpublished"] == "arXiv:1607.06450"


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        ("@misc{a,\n  title = {x},\n", "no entry"),
        ("@misc{a,\n  title = {{x},\n}\n", "braces of title do not match"),
        ("@misc{a,\n  title = {x & y},\n}\n", "title has a bare sign"),
        ("@misc{a,\n  title = {x},\n}\n" * 2, "a stands there twice"),
    ],
)
def test_a_broken_bib_is_seen(broken, fault):
    with pytest.raises(AssertionError, match=fault):
        parsed(broken)


def test_some_of_them():
    assert list(parsed(bibtex(["vaswani2017attention", "bridle1990probabilistic", "vaswani2017attention"]))) == [
        "bridle1990probabilistic", "vaswani2017attention",
    ]  # fmt: skip
    with pytest.raises(RenderError, match=r"no reference magic1999; add it to proofs/render/references\.toml"):
        bibtex(["magic1999"])


@pytest.mark.parametrize("family", families())
def test_every_family_cites_and_every_year_belongs_to_a_citation(family):
    pieces = citations(sections(family)["reference"])
    assert cited(sections(family)["reference"])
    words = re.sub(r"arXiv:\S+|d_ff = \d+", "", "".join(p for p in pieces if isinstance(p, str)))
    assert re.findall(r"\b(?:1[5-9]|20)\d\d\b", words) == []


@pytest.mark.parametrize("family", families())
def test_the_arxiv_number_of_a_header_is_that_of_its_citation(family):
    text = sections(family)["reference"]
    numbers = {references()[key].fields.get("eprint") for key in cited(text)}
    assert set(re.findall(r"arXiv:(\d+\.\d+)", text)) <= numbers


def test_every_work_is_cited_and_named_by_its_year():
    used = {key for family in families() for key in cited(sections(family)["reference"])}
    used |= {key for axiom in AXIOMS for key in cited_by(axiom.theorem)}
    assert used == set(references())
    dated = [w for w in references().values() if w.key != "dlmf"]
    assert all(name.endswith(w.fields["year"]) for w in dated for name in w.cited_as)


def test_what_a_theorem_cites():
    assert cited_by(positive.theorem) == ("bridle1990probabilistic", "gao2017properties")
    assert cited_by(AXIOMS[0].theorem) == ("lambert1761memoire", "niven1947simple")


def test_a_sentence_in_pieces():
    pieces = citations("기울기는 Bridle 1990; Ba et al. 2016, section 3.")
    assert [getattr(p, "key", p) for p in pieces] == [
        "기울기는 ", "bridle1990probabilistic", "; ", "ba2016layer", ", section 3.",
    ]  # fmt: skip


def test_lines_to_read():
    works = references()
    assert works["samuelson1968how"].line == (
        "Paul A. Samuelson. How Deviant Can You Be? Journal of the American Statistical Association, 1968."
    )
    assert works["gemma2024"].line.startswith("Gemma Team. Gemma 2: ")
    assert works["gemma2024"].url == "https://arxiv.org/abs/2408.00118"
    assert works["rumelhart1986learning"].url == "https://doi.org/10.1038/323533a0"
    assert works["rockafellar1970convex"].url is None
