"""Signs that a reader may not expect: what is printed says what is meant, in every notation."""

import pytest

from proofs.render import Latex, Typst
from proofs.render.notation_guide import SIGNS, signs
from proofs.render.page_items import GateError


@pytest.mark.parametrize("printer", [Latex, Typst])
def test_signs(printer):
    assert [name for name, _ in signs(printer)] == [name for name, _ in SIGNS]


@pytest.mark.parametrize("printer", [Latex, Typst])
def test_a_sign_that_says_something_else_is_refused(monkeypatch, printer):
    with monkeypatch.context() as patch:
        patch.setattr(printer, "modulo", lambda self, position, step: position)
        with pytest.raises(GateError, match="the sign remainder: needed brackets only around"):
            signs(printer)
    differentiated = printer.differentiated
    monkeypatch.setattr(
        printer, "differentiated", lambda self, name, body, point: differentiated(self, name, body, "1")
    )
    with pytest.raises(GateError, match=r"the sign derivative: .* says .*, and not "):
        signs(printer)
