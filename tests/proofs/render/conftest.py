"""A test that plants a fault in a printer or a reader starts with nothing kept of what they said, and leaves nothing."""

import pytest

from .kept import forget


@pytest.fixture(autouse=True)
def _nothing_kept_of_a_planted_fault(request):
    planted = "monkeypatch" in request.fixturenames
    if planted:
        forget()
    yield
    if planted:
        forget()
