# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace
from typing import NamedTuple

import mpmath
import numpy as np
import pytest

from numeric.arithmetic import precision, round_to, to_balls, to_floats
from numeric.layers import attention, masking
from numeric.layers import multi_head as layer_of_weights
from numeric.layers.multi_head import Weights

from . import bounds

RESULTS = "y dx dm dw_q dw_k dw_v dw_o".split()
NOTHING = (0,) * len(RESULTS)


def flat_forward(x, m, w_q, w_k, w_v, w_o, *more):
    return layer_of_weights.forward(x, m, Weights(w_q, w_k, w_v, w_o), *more)


def flat_backward(dy, cache):
    dx, dm, weights = layer_of_weights.backward(dy, cache)
    return dx, dm, *weights[:4]


# the layer without biases, its arrays one after the other
multi_head = SimpleNamespace(forward=flat_forward, backward=flat_backward)


class Sizes(NamedTuple):
    heads: int
    groups: int
    batch: tuple[int, ...] = ()
    n_q: int = 3
    n_k: int = 2
    d: int = 2
    d_m: int = 3
    d_k: int = 2
    d_v: int = 1
    d_y: int = 2

    def keep(self):
        """Causal, aligned at the last query and key: for n_q = 3 and n_k = 2 the first row keeps no key."""
        return masking.causal(self.n_q, self.n_k, lower_right=True)


CASES = {
    "each its own": Sizes(2, 2),
    "groups of two": Sizes(4, 2, d_k=1),
    "one group": Sizes(3, 1),
    "one head": Sizes(1, 1, n_k=4),
    "a batch": Sizes(2, 1, (2,), n_q=2, d_k=1),
    "sizes of one": Sizes(1, 1, (1,), 1, 1, 1, 1, 1, 1, 1),
}
ALIKE = Sizes(4, 2, (), 3, 3, 3, 3, 2, 2, 3)  # the same shapes wherever possible, so that a mutant may mix up two


def arguments(sizes, sample, dtype=np.float64):
    """x, m, the four weights and a cotangent of the output."""
    heads, groups, batch, n_q, n_k, d, d_m, d_k, d_v, d_y = sizes
    shapes = [(*batch, n_q, d), (*batch, n_k, d_m), (d, heads * d_k), (d_m, groups * d_k), (d_m, groups * d_v)]
    shapes += [(heads * d_v, d_y), (*batch, n_q, d_y)]
    return [sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes)]


def by_definition(x, m, w_q, w_k, w_v, w_o, sizes, keep):
    """Head by head, token by token, in mpmath: the column c of head h is h d_v + c, and h belongs to group h // R."""
    heads, groups, batch, n_q, n_k, d, d_m, d_k, d_v, d_y = sizes
    keep = np.ones((n_q, n_k), bool) if keep is None else keep
    y = np.full((*batch, n_q, d_y), mpmath.mpf(0), dtype=object)
    for *b, i, h in np.ndindex(*batch, n_q, heads):
        group = h // (heads // groups)
        tokens, kept = m[tuple(b)], [j for j in range(n_k) if keep[i, j]]
        q = [sum(x[(*b, i, r)] * w_q[r, h * d_k + a] for r in range(d)) for a in range(d_k)]
        powers = []
        for j in kept:
            k = [sum(tokens[j, r] * w_k[r, group * d_k + a] for r in range(d_m)) for a in range(d_k)]
            powers.append(mpmath.exp(sum(p * s for p, s in zip(q, k, strict=True)) / mpmath.sqrt(d_k)))
        for c in range(d_v):
            values = [sum(tokens[j, r] * w_v[r, group * d_v + c] for r in range(d_m)) for j in kept]
            mixed = sum(p * v for p, v in zip(powers, values, strict=True)) / sum(powers) if kept else mpmath.mpf(0)
            for column in range(d_y):
                y[(*b, i, column)] += mixed * w_o[h * d_v + c, column]
    return y


def float_misses(layer, inputs, sizes, keep, r):
    """How many entries of y and each gradient lie outside the rounding bound."""
    *operands, dy = inputs
    with precision(160):
        exact, cache = multi_head.forward(*map(to_balls, operands), sizes.heads, sizes.groups, keep)
        truths = exact, *multi_head.backward(to_balls(dy), cache)
    y, cache = layer.forward(*operands, sizes.heads, sizes.groups, keep)
    results = y, *layer.backward(dy, cache)
    held = (bounds.exact(array, r.dtype) for array in inputs)
    allowed = bounds.multi_head(*held, sizes.heads, sizes.groups, True if keep is None else keep)
    return tuple(r.misses(*each, bound.worst) for *each, bound in zip(results, truths, allowed, strict=True))


def ball_misses(layer, inputs, sizes, keep, not_enclosed, gradient_by_differences):
    *operands, dy = inputs
    with precision(113):
        y, cache = layer.forward(*map(to_balls, operands), sizes.heads, sizes.groups, keep)
        gradients = layer.backward(to_balls(dy), cache)
    exactly = list(map(np.frompyfunc(mpmath.mpf, 1, 1), operands))
    with mpmath.workdps(50):
        misses = [not_enclosed(y, by_definition(*exactly, sizes, keep))]
    for place, gradient in enumerate(gradients):

        def moved(array, place=place):
            return by_definition(*exactly[:place], array, *exactly[place + 1 :], sizes, keep)

        misses.append(not_enclosed(gradient, gradient_by_differences(moved, operands[place], dy)))
    return tuple(misses)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("masked", [False, True])
def test_floats_stay_within_the_rounding_bound(name, masked, dtype, rounding, sample):
    sizes = CASES[name]
    inputs = arguments(sizes, sample, dtype)
    before = [array.copy() for array in inputs]
    assert float_misses(multi_head, inputs, sizes, sizes.keep() if masked else None, rounding) == NOTHING
    assert all(np.array_equal(*pair) for pair in zip(inputs, before, strict=True))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("masked", [False, True])
def test_balls_enclose_the_definition(name, masked, sample, not_enclosed, gradient_by_differences):
    sizes = CASES[name]
    inputs, keep = arguments(sizes, sample), sizes.keep() if masked else None
    assert ball_misses(multi_head, inputs, sizes, keep, not_enclosed, gradient_by_differences) == NOTHING


def biases_for(sizes, sample, dtype):
    columns = sizes.heads * sizes.d_k, sizes.groups * sizes.d_k, sizes.groups * sizes.d_v, sizes.d_y
    return [sample((size,), dtype, seed=seed) for seed, size in enumerate(columns, 20)]


def biased_misses(layer, sizes, keep, sample, r):
    """How many entries of y and each gradient, those of the biases too, lie outside the rounding bound."""
    x, m, *matrices, dy = arguments(sizes, sample, r.dtype)
    biases = biases_for(sizes, sample, r.dtype)
    weights = Weights(*matrices, *biases)
    with precision(160):
        balls = Weights(*map(to_balls, weights))
        exact, cache = layer_of_weights.forward(to_balls(x), to_balls(m), balls, sizes.heads, sizes.groups, keep)
        dx, dm, dweights = layer_of_weights.backward(to_balls(dy), cache)
        truths = exact, dx, dm, *dweights
    y, cache = layer.forward(x, m, weights, sizes.heads, sizes.groups, keep)
    dx, dm, dweights = layer.backward(dy, cache)
    held = [bounds.exact(array, r.dtype) for array in (x, m, *matrices, dy)]
    held_biases = [bounds.exact(array, r.dtype) for array in biases]
    allowed = bounds.multi_head(*held, sizes.heads, sizes.groups, True if keep is None else keep, held_biases)
    results = y, dx, dm, *dweights
    return [r.misses(*each, bound.worst) for *each, bound in zip(results, truths, allowed, strict=True)]


@pytest.mark.parametrize("name", CASES)
def test_floats_with_biases_stay_within_the_rounding_bound(name, dtype, rounding, sample):
    sizes = CASES[name]
    assert not any(biased_misses(layer_of_weights, sizes, sizes.keep(), sample, rounding))


def with_biases_backward(change):
    def backward(dy, cache):
        dx, dm, weights = layer_of_weights.backward(dy, cache)
        return dx, dm, change(weights, dy)

    return SimpleNamespace(forward=layer_of_weights.forward, backward=backward)


def with_biases_forward(change):
    def forward(x, m, weights, *more):
        return layer_of_weights.forward(x, m, change(weights), *more)[0], layer_of_weights.forward(
            x, m, weights, *more
        )[1]

    return SimpleNamespace(forward=forward, backward=layer_of_weights.backward)


BIAS_MUTANTS = {
    "b_q left out": with_biases_forward(lambda w: w._replace(b_q=None)),
    "b_v left out": with_biases_forward(lambda w: w._replace(b_v=None)),
    "b_o left out": with_biases_forward(lambda w: w._replace(b_o=None)),
    "db_v for db_k": with_biases_backward(lambda w, dy: w._replace(b_k=w.b_v)),
    "db_v: sign": with_biases_backward(lambda w, dy: w._replace(b_v=-w.b_v)),
    "db_o: mean": with_biases_backward(lambda w, dy: w._replace(b_o=w.b_o / dy.dtype.type(3))),
}


@pytest.mark.parametrize("name", BIAS_MUTANTS)
def test_mutants_of_the_biases_are_caught(name, rounding, dtype, sample):
    assert any(biased_misses(BIAS_MUTANTS[name], ALIKE, None, sample, rounding))


def test_a_bias_is_the_weight_of_a_constant_input(sample, vanishes):
    sizes = CASES["groups of two"]
    x, m, *matrices, dy = map(to_balls, arguments(sizes, sample))
    biases = list(map(to_balls, biases_for(sizes, sample, np.float64)))
    one = to_balls(np.ones((1, 1)))

    def longer(tokens):
        return np.concatenate([tokens, np.repeat(one, len(tokens), 0)], 1)

    larger = [np.concatenate([w, b[None]]) for w, b in zip(matrices[:3], biases[:3], strict=True)]
    with precision(113):
        y, cache = layer_of_weights.forward(x, m, Weights(*matrices, *biases), 4, 2)
        same, other = layer_of_weights.forward(longer(x), longer(m), Weights(*larger, matrices[3]), 4, 2)
        assert vanishes(y - same - biases[3])
        dx, dm, found = layer_of_weights.backward(dy, cache)
        dx_longer, dm_longer, expected = layer_of_weights.backward(dy, other)
        assert vanishes(dx - dx_longer[:, :-1]) and vanishes(dm - dm_longer[:, :-1])
        for bias, matrix in zip(found[4:7], expected[:3], strict=True):
            assert vanishes(bias - matrix[-1])
        assert vanishes(found.b_o - dy.sum(0)) and not vanishes(found.b_v)


def test_a_bias_of_the_keys_has_no_gradient(sample, vanishes):
    """Every score of a row moves by the same amount: attention_identities.key_bias_has_zero_gradient."""
    sizes = CASES["one head"]
    x, m, *matrices, dy = map(to_balls, arguments(sizes, sample))
    biases = map(to_balls, biases_for(sizes, sample, np.float64))
    with precision(113):
        _, cache = layer_of_weights.forward(x, m, Weights(*matrices, *biases), 1)
        _, _, gradients = layer_of_weights.backward(dy, cache)
        assert vanishes(gradients.b_k) and not vanishes(gradients.b_q)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_attending_to_keys_in_parts_is_the_forward_pass(dtype, sample):
    sizes = Sizes(4, 2, (2,), n_k=4)
    x, m, *matrices, _ = arguments(sizes, sample, dtype)
    weights = Weights(*matrices, *biases_for(sizes, sample, dtype))
    keep = masking.causal(3, 4, lower_right=True)
    y, _ = layer_of_weights.forward(x, m, weights, 4, 2, keep)
    k, v = layer_of_weights.keys_and_values(m, weights, 4, 2)
    assert np.array_equal(layer_of_weights.attend(x, k, v, weights, 4, keep), y)
    parts = [layer_of_weights.keys_and_values(part, weights, 4, 2) for part in (m[:, :1], m[:, 1:])]
    k, v = (np.concatenate(each, -2) for each in zip(*parts, strict=True))
    held = [bounds.exact(array, dtype) for array in (x, m, *matrices, y)]
    biases = [bounds.exact(array, dtype) for array in weights[4:]]
    bound = bounds.multi_head(*held, 4, 2, keep, biases)[0].worst
    # each of the two is within the bound of the true value, in whatever order their products are summed
    assert (np.abs(layer_of_weights.attend(x, k, v, weights, 4, keep) - y) <= 2 * bound).all()


def mutant_forward(change):
    """The layer run on other arguments; the way back is that of the right ones."""

    def forward(*args):
        return multi_head.forward(*change(*args))[0], multi_head.forward(*args)[1]

    return SimpleNamespace(forward=forward, backward=multi_head.backward)


def mutant_backward(**changes):
    """The layer with some gradients replaced, each by a function of the right ones, the cache and the cotangent."""

    def backward(dy, cache):
        right = dict(zip(RESULTS[1:], multi_head.backward(dy, cache), strict=True))
        wrong = {name: round_to(np.asarray(f(right, cache, dy)), dy.dtype) for name, f in changes.items()}
        return tuple({**right, **wrong}.values())

    return SimpleNamespace(forward=multi_head.forward, backward=backward)


def heads_backward(cache, dy):
    """dq, dk, dv of every head, no sums taken: its keys and values are repeated for each head of a group."""
    q, k, v, p, y = cache.inner
    n_groups, group_size = y.shape[-4:-2]
    k, v = (np.repeat(z, group_size, axis=-3) for z in (k, v))
    dh = bounds.heads_of(dy.astype(y.dtype) @ cache.weights.w_o.T, n_groups, group_size)
    return attention.backward(dh, attention.Cache(q, k, v, p, y))


def first_of_each_group(cache, dy, which):
    return bounds.side_by_side(heads_backward(cache, dy)[which][..., :1, :, :])


def columns_interleaved(w, parts):
    """Head h as the columns h, h + H, ... of the weights and not as neighbours."""
    return w.reshape(len(w), -1, parts).swapaxes(1, 2).reshape(w.shape)


def other_groups(x, m, w_q, w_k, w_v, w_o, heads, groups, keep):
    """Head h in group h % F."""
    order = np.arange(heads).reshape(-1, groups).T.ravel()
    w_q = w_q.reshape(len(w_q), heads, -1)[:, order].reshape(w_q.shape)
    w_o = w_o.reshape(heads, -1, w_o.shape[1])[order].reshape(w_o.shape)
    return x, m, w_q, w_k, w_v, w_o, heads, groups, keep


MUTANTS = {
    "mask ignored": mutant_forward(lambda *a: (*a[:-1], None)),
    "mask inverted": mutant_forward(lambda *a: (*a[:-1], ~a[-1])),
    "heads in other groups": mutant_forward(other_groups),
    "query columns interleaved": mutant_forward(lambda x, m, w_q, *a: (x, m, columns_interleaved(w_q, a[3]), *a)),
    "keys from x": mutant_forward(lambda x, m, *a: (x, x, *a)),
    "queries from m": mutant_forward(lambda x, m, *a: (m, m, *a)),
    "keys and values exchanged": mutant_forward(lambda x, m, w_q, w_k, w_v, *a: (x, m, w_q, w_v, w_k, *a)),
    "heads in reverse": mutant_forward(lambda x, m, w_q, w_k, w_v, w_o, *a: (x, m, w_q, w_k, w_v, w_o[::-1], *a)),
    "one head for all": mutant_forward(lambda x, m, w_q, w_k, w_v, w_o, *a: (x, m, w_q[:, :4], w_k, w_v, w_o[:4], 2, 2, a[-1])),
    "dx: sign": mutant_backward(dx=lambda right, cache, dy: -right["dx"]),
    "dx: also as a key": mutant_backward(dx=lambda right, cache, dy: right["dx"] + right["dm"]),
    "dm: values left out": mutant_backward(
        dm=lambda right, cache, dy: bounds.side_by_side(
            heads_backward(cache, dy)[1].sum(-3, keepdims=True)
        ) @ cache.weights.w_k.T
    ),
    "dm: keys left out": mutant_backward(
        dm=lambda right, cache, dy: bounds.side_by_side(
            heads_backward(cache, dy)[2].sum(-3, keepdims=True)
        ) @ cache.weights.w_v.T
    ),
    "dw_q: from m": mutant_backward(
        dw_q=lambda right, cache, dy: cache.m.T @ bounds.side_by_side(heads_backward(cache, dy)[0])
    ),
    "dw_k: one head of a group": mutant_backward(
        dw_k=lambda right, cache, dy: cache.m.T @ first_of_each_group(cache, dy, 1)
    ),
    "dw_v: one head of a group": mutant_backward(
        dw_v=lambda right, cache, dy: cache.m.T @ first_of_each_group(cache, dy, 2)
    ),
    "dw_k: mean over a group": mutant_backward(dw_k=lambda right, cache, dy: right["dw_k"] / 2),
    "dw_k and dw_v exchanged": mutant_backward(
        dw_k=lambda right, cache, dy: right["dw_v"], dw_v=lambda right, cache, dy: right["dw_k"]
    ),
    "dw_o: heads in reverse": mutant_backward(dw_o=lambda right, cache, dy: right["dw_o"][::-1]),
    "dw_o: output for heads": mutant_backward(
        dw_o=lambda right, cache, dy: (cache.heads * 0 + 1).T @ dy.astype(cache.heads.dtype)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    inputs, keep = arguments(ALIKE, sample, dtype), np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], bool)
    assert sum(float_misses(MUTANTS[name], inputs, ALIKE, keep, rounding)) > 0
    if dtype == np.float32:  # in balls, against balls: the definition in mpmath takes long at this size
        *operands, dy = map(to_balls, inputs)
        with precision(113):
            results = []
            for layer in (multi_head, MUTANTS[name]):
                y, cache = layer.forward(*operands, ALIKE.heads, ALIKE.groups, keep)
                results.append((y, *layer.backward(dy, cache)))
        differ = [np.abs(to_floats(a - b)).max() > 1e-20 for a, b in zip(*results, strict=True)]
        assert any(differ) and not all(differ)


def test_the_layer_itself_passes_where_the_mutants_do_not(dtype, rounding, sample):
    inputs, keep = arguments(ALIKE, sample, dtype), np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], bool)
    assert float_misses(multi_head, inputs, ALIKE, keep, rounding) == NOTHING


@pytest.mark.slow
def test_the_definition_catches_mutants_too(sample, not_enclosed, gradient_by_differences):
    sizes = CASES["one group"]
    inputs = arguments(sizes, sample)
    for name in ("mask ignored", "heads in reverse", "dx: sign", "dm: keys left out", "dw_k: one head of a group"):
        misses = ball_misses(MUTANTS[name], inputs, sizes, sizes.keep(), not_enclosed, gradient_by_differences)
        assert sum(misses) > 0


def test_one_head_is_plain_attention(sample, vanishes):
    x, m, w_q, w_k, w_v, w_o, dy = map(to_balls, arguments(CASES["one head"], sample))
    with precision(113):
        y, cache = multi_head.forward(x, m, w_q, w_k, w_v, w_o, 1)
        plain, inner = attention.forward(x @ w_q, m @ w_k, m @ w_v)
        dq, _, _ = attention.backward(dy @ w_o.T, inner)
        assert vanishes(y - plain @ w_o)
        assert vanishes(multi_head.backward(dy, cache)[0] - dq @ w_q.T)


def test_heads_permuted_jointly_change_nothing(sample, vanishes):
    x, m, w_q, w_k, w_v, w_o, _ = map(to_balls, arguments(CASES["each its own"], sample))
    swapped = [w[:, [2, 3, 0, 1]] for w in (w_q, w_k)]
    with precision(113):
        y, _ = multi_head.forward(x, m, w_q, w_k, w_v, w_o, 2)
        assert vanishes(multi_head.forward(x, m, *swapped, w_v[:, ::-1], w_o[::-1], 2)[0] - y)
        assert not vanishes(multi_head.forward(x, m, *swapped, w_v[:, ::-1], w_o, 2)[0] - y)


def test_permuted_tokens_have_permuted_outputs_unless_a_mask_is_causal(sample, vanishes):
    x, _, w_q, w_k, w_v, w_o, _ = map(to_balls, arguments(ALIKE, sample))
    order = [2, 0, 1]
    with precision(113):

        def outputs(x, keep=None):
            return multi_head.forward(x, x, w_q, w_k, w_v, w_o, 4, 2, keep)[0]

        assert vanishes(outputs(x[order]) - outputs(x)[order])
        assert not vanishes(outputs(x[order], masking.causal(3)) - outputs(x, masking.causal(3))[order])


def test_groups_are_heads_with_repeated_keys_and_values(sample, vanishes):
    x, m, w_q, w_k, w_v, w_o, dy = map(to_balls, arguments(ALIKE, sample))
    repeated = [w[:, [0, 1, 0, 1, 2, 3, 2, 3]] for w in (w_k, w_v)]
    with precision(113):
        y, cache = multi_head.forward(x, m, w_q, w_k, w_v, w_o, 4, 2)
        same, each = multi_head.forward(x, m, w_q, *repeated, w_o, 4)
        assert vanishes(y - same)
        grouped, apart = multi_head.backward(dy, cache), multi_head.backward(dy, each)
        for place in (3, 4):
            columns = apart[place].reshape(3, 2, 2, 2).sum(2).reshape(3, 4)
            assert vanishes(grouped[place] - columns) and not vanishes(columns)


def test_a_mask_may_differ_in_each_element_of_a_batch(sample):
    sizes = CASES["a batch"]
    *operands, _ = arguments(sizes, sample)
    tokens = np.array([[5, 0], [5, 7]])
    y, _ = multi_head.forward(*operands, 2, 1, masking.padding(tokens, 0))
    x, m, *weights = operands
    first, _ = multi_head.forward(x[:1], m[:1], *weights, 2, 1, masking.padding(tokens[:1], 0))
    second, _ = multi_head.forward(x[1:], m[1:], *weights, 2, 1)
    assert np.array_equal(y, np.concatenate([first, second]))


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_an_empty_batch(dtype, sample):
    inputs = arguments(CASES["a batch"]._replace(batch=(0,)), sample, np.float32)
    *operands, dy = map(to_balls, inputs) if dtype is object else inputs
    y, cache = multi_head.forward(*operands, 2, 1)
    gradients = multi_head.backward(dy, cache)
    assert y.shape == dy.shape and [g.shape for g in gradients] == [a.shape for a in operands]
    assert not any(to_floats(to_balls(g)).any() for g in gradients)


X, M, W_Q, W_K, W_V, W_O, _ = (np.zeros(a) for a in [(3, 2), (2, 3), (2, 8), (3, 4), (3, 2), (4, 5), ()])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: multi_head.forward([[1.0]], M, W_Q, W_K, W_V, W_O, 4, 2), TypeError, "multi_head: x is a list"),
        (lambda: multi_head.forward(X, M > 0, W_Q, W_K, W_V, W_O, 4, 2), TypeError, "m has dtype bool, needed float16"),
        (lambda: multi_head.forward(X, M, W_Q[0], W_K, W_V, W_O, 4, 2), ValueError, r"w_q has shape \(8,\), needed ndim"),
        (lambda: multi_head.forward(X, M, W_Q[None], W_K, W_V, W_O, 4, 2), ValueError, r"\(1, 2, 8\), needed two axes"),
        (lambda: multi_head.forward(X, M[:0], W_Q, W_K, W_V, W_O, 4, 2), ValueError, r"m has shape \(0, 3\), needed at"),
        (lambda: multi_head.forward(X, M, W_Q, W_K.astype("f"), W_V, W_O, 4, 2), TypeError, "w_k has dtype float32"),
        (lambda: multi_head.forward(X, M[None], W_Q, W_K, W_V, W_O, 4, 2), ValueError, r"m has shape \(1, 2, 3\)"),
        (lambda: multi_head.forward(X, M, W_Q, W_K, W_V, W_O, 0), ValueError, "n_heads is 0, needed an integer of at"),
        (lambda: multi_head.forward(X, M, W_Q, W_K, W_V, W_O, 4.0), TypeError, "n_heads is 4.0, needed an integer"),
        (lambda: multi_head.forward(X, M, W_Q, W_K, W_V, W_O, 4, 3), ValueError, "n_groups is 3, needed a divisor of n_"),
        (lambda: multi_head.forward(X, M, W_Q, W_K, W_V, W_O, 3, 1), ValueError, r"w_q .* needed a multiple of 3 columns"),
        (lambda: multi_head.forward(X, M, W_Q, W_K, W_V, W_O, 4), ValueError, r"w_v .* needed a multiple of 4 columns"),
        (lambda: multi_head.forward(X, M, W_Q[1:], W_K, W_V, W_O, 4, 2), ValueError, r"w_q .*, needed \(2, 8\), with x"),
        (lambda: multi_head.forward(X, M, W_Q, W_V, W_V, W_O, 4, 2), ValueError, r"w_k has shape \(3, 2\), needed \(3, 4\)"),
        (lambda: multi_head.forward(X, M, W_Q, W_K, W_V[1:], W_O, 4, 2), ValueError, r"w_v .*, needed \(3, 2\)"),
        (lambda: multi_head.forward(X, M, W_Q, W_K, W_V, W_O[1:], 4, 2), ValueError, r"w_o .*, needed \(4, 5\), .* d_v = 1"),
        (
            lambda: multi_head.forward(X, M, W_Q, W_K, W_V, W_O, 4, 2, np.ones((2, 3), bool)),
            ValueError,
            r"multi_head: keep has shape \(2, 3\), needed one that broadcasts to \(3, 2\)",
        ),
        (
            lambda: multi_head.backward(X, multi_head.forward(X, M, W_Q, W_K, W_V, W_O, 4, 2)[1]),
            ValueError,
            r"multi_head: dy has shape \(3, 2\), needed \(3, 5\), the shape of the output",
        ),
        (lambda: layer_of_weights.forward(X, M, (W_Q, W_K, W_V, W_O), 4, 2), TypeError, "weights is a tuple, needed multi_head.W"),
        (
            lambda: layer_of_weights.forward(X, M, Weights(W_Q, W_K, W_V, W_O, b_v=np.zeros(3)), 4, 2),
            ValueError,
            r"multi_head: b_v has shape \(3,\), needed \(2,\), one a column",
        ),
        (
            lambda: layer_of_weights.attend(X, np.zeros((1, 1, 2, 2)), np.zeros((1, 1, 2, 2)), Weights(W_Q, W_K, W_V, W_O), 4),
            ValueError,
            "multi_head: w_k has shape",
        ),
        (
            lambda: layer_of_weights.attend(X, np.zeros((2, 1, 3, 2)), np.zeros((2, 1, 3, 2)), Weights(W_Q, W_K, W_V, W_O), 4),
            ValueError,
            r"multi_head: v has shape \(2, 1, 3, 2\), needed \(2, 1, 3, 1\), with x \(3, 2\)",
        ),
    ],
)  # fmt: skip
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
