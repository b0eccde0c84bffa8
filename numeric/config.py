"""The sizes and choices that make a model, checked once; everything else about it is in its parameters."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .layers import feed_forward, residual
from .layers._arguments import require_size

FORMS = ("encoder-decoder", "encoder", "decoder")


@dataclass(frozen=True)
class Config:
    """A Transformer in one of three forms.

    encoder-decoder   Vaswani et al. 2017: the decoder reads the target so far and attends to the encoded source
    encoder           predicts at every position, each of which sees all others (Devlin et al. 2019)
    decoder           predicts the next token, each position sees the ones before it (Radford et al. 2018)

    Raises TypeError or ValueError for a value of the wrong kind, or for values that do not fit each other.
    """

    form: str
    vocabulary: int  # V, the rows of the table, `pad` included
    d_model: int  # even, since positions are encoded in pairs of columns; a multiple of n_heads
    d_ff: int
    n_heads: int
    n_layers: int  # of the encoder and of the decoder each
    n_groups: int | None = None  # heads share keys and values in so many groups; None: each head has its own
    norm: str = "post"  # post: LN(x + f(x)), Vaswani et al.; pre: x + f(LN(x)), with a norm after the last layer
    activation: str = "relu"
    dropout: float = 0.0  # rate, when a generator is given
    eps: float = 1e-5  # of the layer norms
    smoothing: float = 0.0  # of the labels
    pad: int = 0  # the token that fills up short rows: not attended to, not predicted
    attention_biases: bool = False  # whether `initialise` gives the projections biases; Vaswani et al. have none
    base: float = 10000.0  # of the positional encoding

    def __post_init__(self) -> None:
        _require_one_of("form", self.form, FORMS)
        _require_one_of("norm", self.norm, residual.PLACEMENTS)
        _require_one_of("activation", self.activation, feed_forward.ACTIVATIONS)
        for name in ("vocabulary", "d_model", "d_ff", "n_heads", "n_layers"):
            require_size("Config", name, getattr(self, name))
        require_size("Config", "n_groups", self.groups)
        require_size("Config", "pad", self.pad, least=0)
        self._require_fitting_sizes()
        if not isinstance(self.attention_biases, bool):
            raise TypeError(f"Config: attention_biases is {self.attention_biases!r}, needed True or False")
        for name, needed, fits in (
            ("dropout", "0 <= dropout < 1", lambda rate: 0 <= rate < 1),
            ("smoothing", "0 <= smoothing <= 1", lambda share: 0 <= share <= 1),
            ("eps", "a finite number above 0", lambda number: 0 < number < math.inf),
            ("base", "a finite number above 0", lambda number: 0 < number < math.inf),
        ):
            _require_number(name, getattr(self, name), needed, fits)

    def _require_fitting_sizes(self) -> None:
        if self.d_model % 2:
            raise ValueError(
                f"Config: d_model is {self.d_model}, needed an even number, since positions are encoded in pairs"
            )
        if self.d_model % self.n_heads:
            raise ValueError(f"Config: n_heads is {self.n_heads}, needed a divisor of d_model, {self.d_model}")
        if self.n_heads % self.groups:
            raise ValueError(f"Config: n_groups is {self.n_groups}, needed a divisor of n_heads, {self.n_heads}")
        if self.pad >= self.vocabulary:
            raise ValueError(f"Config: pad is {self.pad}, needed a token below vocabulary, {self.vocabulary}")

    @property
    def groups(self) -> int:
        return self.n_heads if self.n_groups is None else self.n_groups

    @property
    def d_k(self) -> int:
        """The width of one head."""
        return self.d_model // self.n_heads


def _require_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"Config: {name} is {value!r}, needed one of {', '.join(known)}")


def _require_number(name: str, value: float, needed: str, fits: Callable[[float], bool]) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"Config: {name} is {value!r}, needed a real number")
    if not fits(value):
        raise ValueError(f"Config: {name} is {value}, needed {needed}")
