"""The messages of the figures, in English and in Korean."""

from .english import MESSAGES as ENGLISH
from .korean import MESSAGES as KOREAN

LANGUAGES = {"en": ENGLISH, "ko": KOREAN}


class Words:
    """The messages of one language, as words("axis.position"). Raises KeyError for a key or a number that is not there."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._messages = LANGUAGES[language]

    def __call__(self, key: str, **numbers: object) -> str:
        return self._messages[key].format(**numbers)
