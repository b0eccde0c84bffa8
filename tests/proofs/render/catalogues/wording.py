"""What a translation has to share with the English: formulas, numbers, and the words of the glossary."""

import functools
import re
from collections import Counter
from itertools import pairwise

from proofs.render.catalogues import files
from proofs.render.references import citations, references

HANGUL = re.compile("[가-힣]")

# Names that a sentence keeps, and words that occur in formulas only.
NAMES = {
    "ReLU", "SiLU", "GELU", "SwiGLU", "FlashAttention", "Adam", "RMS", "PE", "FC", "JMLR", "arXiv", "NumPy", "LaTeX", "STIX",
    "Two", "Math", "CE", "Var", "log-sum-exp", "torch.nn.attention.bias", "Attention", "softmax", "heads", "aM",
}  # fmt: skip
IN_FORMULAS = {
    "sqrt", "exp", "log", "sin", "cos", "max", "min", "sum", "erf", "diag", "rowsum", "eps", "rho", "pi", "lambda", "oo", "pos", "seq",
    "low", "best", "top", "lo", "hi", "base", "pair", "witness", "gain", "mean", "updated", "keep", "tok", "dropout", "bg",
}  # fmt: skip
NUMBER = r"\d+(?:\.\d+)*(?:e-?\d+)?|\.\d+"
IDENTIFIER = r"[A-Za-z]\w*_\w*|d[A-Z]\b|(?<!-)\b(?:sqrt|exp|log|rho|eps|pi)\b(?!-)"
LETTER = r"(?<![\w'])[B-HJ-Zb-z](?!\w)"  # a and I are English words too
TOKEN = re.compile(rf"{NUMBER}|{IDENTIFIER}|{LETTER}|<=|>=|!=|->|[<>=^*/|+]", re.ASCII)


TITLES = re.compile(
    "|".join(re.escape(work.fields["title"].replace("π", "pi")) for work in references().values()), re.IGNORECASE
)


def marks(text: str) -> Counter[str]:
    """The numbers, signs and names of a sentence that no translation changes."""
    return Counter(TOKEN.findall(text))


def lost(english: str, translated: str) -> list[str]:
    """What stands in the English and not, or not as often, in the translation; and what stands in the translation alone."""
    before, after = marks(english), marks(translated)
    return sorted([*(before - after), *(set(after) - set(before))])


def foreign(english: str, translated: str) -> list[str]:
    """Latin words in a translation that are no names, no parts of formulas, and no citation."""
    prose = "".join(piece for piece in citations(translated) if isinstance(piece, str))
    words = re.findall(r"log-sum-exp|[A-Za-z][A-Za-z_.]*[A-Za-z_]", TITLES.sub("", prose))
    known = {w for w in words if w in NAMES | IN_FORMULAS or "_" in w or re.fullmatch(r"[a-z]?[A-Z]+|d[a-z]", w)}
    return sorted(w for w in words if w not in known or w.lower() not in english.lower())


def missing_terms(english: str, translated: str) -> list[str]:
    """Words of the glossary that the English has, and whose one translation is not there."""
    terms, own = files.messages("en"), files.messages("ko")
    names = [key for key in terms if key.startswith("glossary.")]
    said = {terms[key]: own[key] for key in names if _speaking_of(terms[key]).search(english)}
    return [term for term, word in said.items() if word not in translated and term not in translated]


@functools.cache
def _speaking_of(term: str) -> re.Pattern[str]:
    stem = re.escape(term.removesuffix("y")) + ("(?:y|ies)" if term.endswith("y") else "(?:s|es)?")
    return re.compile(rf"(?<![\w-]){stem}(?![\w(-])", re.IGNORECASE)


def after_a_place(template: str) -> list[str]:
    """Particles right after a place that depend on how the formula there is read."""
    pieces = re.split(r"(\{\w+\})", template)
    follow = [words for place, words in pairwise(pieces) if place.startswith("{")]
    return [
        w
        for w in follow
        if re.match(r"(은|는|이|가|을|를|과|와|으로|로)(?![가-힣])|(이다|다)\b|\((은|이|을|과|으)\)", w)
    ]
