"""JAX's functions of neural networks. It has no loss and no normalisation of its own: the loss is the usual line around log_softmax."""

from typing import Any

from ..ready import Ready


def ready() -> list[Ready]:
    import jax.nn

    functional = ("softmax", "log_softmax", "relu", "silu")
    return [
        *(Ready(f"nn.{name}", name, getattr(jax.nn, name)) for name in functional),
        Ready("nn.gelu, approximate=False", "gelu", _gelu(False)),
        Ready("nn.gelu", "gelu", _gelu(True), accept=("gelu.tanh",)),
        Ready("nn.dot_product_attention", "scaled_dot_product_attention", attention),
        Ready("nn.one_hot @ table", "embedding", embedding),
        Ready("cross-entropy by log_softmax", "cross_entropy", cross_entropy),
        Ready("random.bernoulli, dropout", "dropout", Dropout()),
    ]


def _gelu(approximate: bool) -> Any:
    import jax.nn

    return lambda x: jax.nn.gelu(x, approximate=approximate)


def attention(q: Any, k: Any, v: Any, mask: Any = None, causal: bool = False) -> Any:
    """JAX's takes (B, length, heads, width), one width for keys and values: narrower values are padded with zeros."""
    import jax.nn
    import jax.numpy as jnp

    batch, n_q, n_k = q.shape[:-2], q.shape[-2], k.shape[-2]
    columns = max(q.shape[-1], v.shape[-1])

    def widened(x: Any) -> Any:
        padded = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, columns - x.shape[-1])])
        return padded.reshape(-1, x.shape[-2], 1, columns)

    if mask is not None:
        if mask.ndim == 3:  # the batch comes first
            mask = mask.reshape(len(mask), *(1,) * (len(batch) - 1), n_q, n_k)
        mask = jnp.broadcast_to(mask, (*batch, n_q, n_k)).reshape(-1, 1, n_q, n_k)
    y = jax.nn.dot_product_attention(
        widened(q), widened(k), widened(v), mask=mask, scale=q.shape[-1] ** -0.5, is_causal=causal
    )
    return y.reshape(*batch, n_q, columns)[..., : v.shape[-1]]


def embedding(ids: Any, table: Any) -> Any:
    import jax.nn

    return jax.nn.one_hot(ids, len(table), dtype=table.dtype) @ table


def cross_entropy(logits: Any, targets: Any, ignore_index: int = -100, label_smoothing: float = 0.0) -> Any:
    import jax.nn
    import jax.numpy as jnp

    counted = targets != ignore_index
    log_weights = jax.nn.log_softmax(logits)
    y = jax.nn.one_hot(targets, logits.shape[-1], dtype=logits.dtype)
    mixed = y * (1 - label_smoothing) + label_smoothing / logits.shape[-1]
    losses = -(mixed * log_weights).sum(-1)
    return jnp.where(counted, losses, 0).sum() / counted.sum().astype(logits.dtype)


class Dropout:
    """Draws another mask in each call, as a training loop does that splits its key."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any, p: float = 0.1, training: bool = True) -> Any:
        import jax
        import jax.numpy as jnp

        if not training:
            return x
        self.calls += 1
        keep = jax.random.bernoulli(jax.random.key(self.calls), 1 - p, x.shape)
        return jnp.where(keep, x / (1 - p), 0)
