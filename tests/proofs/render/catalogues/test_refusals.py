"""What the kernel says when it refuses a step has words in every language: its sources are searched for what it can say."""

import ast
from pathlib import Path

import pytest

import proofs.chain
import proofs.rules
from proofs.render.catalogues import CatalogueError, in_language

KOREAN = in_language("ko")
SOURCES = [Path(proofs.chain.__file__), *sorted(Path(proofs.rules.__file__).parent.glob("*.py"))]
PASSED_ON = {"{message}; this is not known"}  # what _need says; the messages that it gets are collected as well


def said_by_the_kernel():
    """The messages of `raise Refused(...)` and of the checks that end in one, with a name in every place."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "Refused":
                found |= texts(node.args[0])
            if node.func.id == "_need":
                found |= {f"{text}; this is not known" for text in texts(node.args[2])}
    return sorted(found - PASSED_ON)


def texts(node):
    """The texts that an expression can be, where a place of an f-string stands as its source in braces."""
    match node:
        case ast.Constant():
            return {str(node.value)}
        case ast.JoinedStr():
            possible = {""}
            for part in node.values:
                ends = choices(part.value) if isinstance(part, ast.FormattedValue) else {part.value}
                possible = {start + end for start in possible for end in ends}
            return possible
    raise AssertionError(f"a message that this test cannot read: {ast.unparse(node)}")


def choices(value):
    if isinstance(value, ast.IfExp):
        return texts(value.body) | texts(value.orelse)
    return {"positive", "nonnegative"} if ast.unparse(value) == "domain" else {f"{{{ast.unparse(value)}}}"}


MESSAGES = said_by_the_kernel()


def test_the_search_finds_what_the_kernel_says():
    assert len(MESSAGES) >= 40
    assert {"what is left over", "not known to be positive", "a denominator may vanish; this is not known"} <= set(
        MESSAGES
    )


@pytest.mark.parametrize("message", MESSAGES)
def test_every_message_has_words(message):
    if "{problem}" in message:
        message = message.replace("{problem}", "the proof speaks of w, and the statement does not")
    said = KOREAN.refusal(message)
    assert said != message
    assert in_language("en").refusal(message) == message


def test_names_and_numbers_are_kept():
    assert (
        KOREAN.refusal("not closed by softmax.positive; what is left over")
        == "softmax.positive만으로는 맞지 않는다; 남는 것"
    )
    assert "3차 적률" in KOREAN.refusal("a moment of order 3 is not known to exist")


def test_an_unknown_message_is_an_error_and_not_english():
    with pytest.raises(CatalogueError, match=r"no message for 'the moon is full'.*add its pattern to refusals\.toml"):
        KOREAN.refusal("the moon is full")
