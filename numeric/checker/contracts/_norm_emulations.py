"""Normalisations that are right in exact arithmetic and lose their digits in the dtype: x^ of a row, in the dtype of x."""

from typing import Any

import numpy as np

from ..formats import FORMATS
from ._norm_formulas import centred, layer_norm_dx, layer_norm_parts, mean, variance


def one_pass(x: Any, eps: Any) -> Any:
    """mean x^2 - (mean x)^2, never below zero."""
    given = x.astype(_wide(x))
    m = mean(given)
    spread = np.maximum(mean(given * given) - m * m, 0)
    return ((given - m) / np.sqrt(spread + given.dtype.type(eps))).astype(x.dtype)


def narrow_sums(x: Any, eps: Any) -> Any:
    return narrow_sum(x - _accumulated(x), eps)


def narrow_sum(x: Any, eps: Any) -> Any:
    """... without a mean."""
    return x / np.sqrt(_accumulated(x * x) + x.dtype.type(eps))


def narrow_squares(x: Any, eps: Any) -> Any:
    return narrow_square(x - mean(x.astype(_wide(x))).astype(x.dtype), eps)


def narrow_square(x: Any, eps: Any) -> Any:
    """... without a mean."""
    spread = mean((x * x).astype(_wide(x)))
    return (x / np.sqrt(spread + spread.dtype.type(eps))).astype(x.dtype)


def flushed_eps(x: Any, eps: Any) -> Any:
    given = x.astype(_wide(x))
    return (centred(given) / np.sqrt(variance(given) + _flushed(eps, x))).astype(x.dtype)


def flushed_eps_without_mean(x: Any, eps: Any) -> Any:
    given = x.astype(_wide(x))
    return (given / np.sqrt(mean(given * given) + _flushed(eps, x))).astype(x.dtype)


def narrow_row_sums(dy: Any, x: Any, gain: Any, bias: Any, eps: Any) -> tuple[Any, Any, Any]:
    """The gradients for x, gain and bias; the last two added up row by row in the dtype, as PyTorch's kernel for the CPU does."""
    widened = [each.astype(_wide(x)) for each in (dy, x, gain, bias)]
    p = layer_norm_parts(widened[0], widened[1], widened[2], widened[3], eps)
    return layer_norm_dx(p).astype(x.dtype), _running(p.dy * p.x_hat, x.dtype), _running(p.dy, x.dtype)


def _running(terms: Any, dtype: Any) -> Any:
    total = np.zeros(terms.shape[-1:], dtype)
    for row in terms.reshape(-1, terms.shape[-1]):
        total = (total.astype(terms.dtype) + row).astype(dtype)
    return total


def _wide(x: Any) -> Any:
    """float32 for 16 bits, as kernels compute."""
    return np.float32 if x.dtype.itemsize == 2 else x.dtype


def _accumulated(x: Any) -> Any:
    """The mean of a row by a sum that is kept in the dtype of x."""
    return (np.add.accumulate(x, -1)[..., -1:] / x.dtype.type(x.shape[-1])).astype(x.dtype)


def _flushed(eps: Any, x: Any) -> Any:
    """eps in the dtype of x, zero where it is below the least normal number, as hardware that flushes has it."""
    stored = x.dtype.type(eps)
    return np.float32(stored if stored >= FORMATS[x.dtype.name].tiny else 0)
