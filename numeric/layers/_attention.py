"""What attention shares with attention by blocks: the arguments and the scale, and the gradients of what is shared."""

import numpy as np

from ..arithmetic import convert
from ._arguments import require_not_empty, require_operand, require_same_dtype


def require_attention(layer: str, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    """Queries (..., n_q, d_k), keys (..., n_k, d_k) and values (..., n_k, d_v), of one dtype and none of these sizes 0.

    Raises TypeError, or ValueError when the shapes do not fit or the axes before the last two do not broadcast.
    """
    for name, array in (("q", q), ("k", k), ("v", v)):
        require_operand(layer, name, array, 2)
        require_not_empty(layer, name, array, 2)
    require_same_dtype(layer, q=q, k=k, v=v)
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{layer}: k has shape {k.shape}, needed (..., n_k, {q.shape[-1]}), since q has {q.shape}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{layer}: v has shape {v.shape}, needed (..., {k.shape[-2]}, d_v), since k has {k.shape}")
    try:
        np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError:
        raise ValueError(
            f"{layer}: q, k, v have shapes {q.shape}, {k.shape}, {v.shape}, needed axes before the last "
            "two that broadcast"
        ) from None


def scores_shape(q: np.ndarray, k: np.ndarray) -> tuple[int, ...]:
    """The shape of q k^T, (..., n_q, n_k)."""
    return (*np.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])


def root_of_width(k: np.ndarray) -> np.ndarray:
    """sqrt(d_k) in the arithmetic of k."""
    return np.sqrt(convert(k.shape[-1], k.dtype))


def summed_over_shared(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of an argument of that shape, which forward broadcast to the shape of `gradient`."""
    new = gradient.ndim - len(shape)
    axes = tuple(a for a, size in enumerate(gradient.shape) if a < new or (shape[a - new] == 1 and size != 1))
    return gradient.sum(axes).reshape(shape) if axes else gradient
