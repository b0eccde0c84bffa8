"""Messages with places, and what happens where a catalogue is wanting."""

import pytest

from proofs.render.catalogues import ENGLISH, CatalogueError, in_language
from proofs.render.catalogues.language import Catalogue
from proofs.render.catalogues.templates import template
from proofs.render.names import RenderError
from proofs.render.parts import Formula, Words, plain


def test_formulas_stay_formulas():
    said = ENGLISH.said("reasons.squeeze", lower=Formula("0"), upper=Formula("x"))
    assert said == (Words("by squeezing between "), Formula("0"), Words(" and "), Formula("x"))
    korean = in_language("ko").said("reasons.squeeze", lower=Formula("0"), upper=Formula("x"))
    assert plain(korean) == "조임 정리에 의해: 아래에서 0, 위에서 x"
    assert [part for part in korean if isinstance(part, Formula)] == [Formula("0"), Formula("x")]


def test_lines_of_parts_and_words_fill_places():
    cited = ENGLISH.said("reasons.at", fact="softmax.positive", values=(Formula("i := j"),))
    assert plain(ENGLISH.said("reasons.theorem", cited=cited)) == "by softmax.positive at i := j"
    assert ENGLISH.text("source.refused", conclusion="a = b") == "refused: a = b"


def test_braces():
    assert template("{{0, 1}} and {x}").pieces == (("{", None), ("0, 1}", None), (" and ", "x"))


@pytest.mark.parametrize("text", ["{", "{0}", "{x!r}", "{x:3}", "{x.y}", "{}"])
def test_anything_else_in_braces_is_no_place(text):
    with pytest.raises(CatalogueError, match="is no message"):
        template(text)


def test_places_and_values_have_to_agree():
    with pytest.raises(
        CatalogueError, match=r"en, reasons.squeeze: a message has places for lower, upper; found lower"
    ):
        ENGLISH.said("reasons.squeeze", lower=Formula("0"))
    with pytest.raises(CatalogueError, match="has places for nothing; found x"):
        ENGLISH.said("rules.ring", x="1")


def test_a_missing_message_is_an_error_that_names_the_file():
    with pytest.raises(CatalogueError, match=r"ko, reasons\.magic: no such message; add magic to ko/reasons\.toml"):
        in_language("ko").said("reasons.magic")
    assert issubclass(CatalogueError, RenderError)


def test_an_unknown_language_is_refused():
    with pytest.raises(CatalogueError, match="no catalogue for 'fr'; there is one for en, ko"):
        Catalogue("fr")
