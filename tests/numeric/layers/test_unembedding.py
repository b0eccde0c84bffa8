# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import precision, round_to, to_balls, widen
from numeric.derivatives import derivative
from numeric.layers import embedding, unembedding

SIZES = [(4, 5, 3), (1, 1, 1), (2, 1, 3), (3, 2, 1), (2, 64, 3), (64, 2, 3)]


def by_definition(y, table):
    """sum_a y_ia E_va in mpmath, entry by entry."""
    z = np.empty((y.shape[0], table.shape[0]), dtype=object)
    for i, v in np.ndindex(z.shape):
        z[i, v] = mpmath.fsum(y[i, a] * table[v, a] for a in range(y.shape[1]))
    return z


def float_misses(layer, y, table, dz, running):
    with precision(160):
        exact, cache = unembedding.forward(to_balls(y), to_balls(table))
        exact_gradients = unembedding.backward(to_balls(dz), cache)
    z, cache = layer.forward(y, table)
    Y, E, g = (running.exact(array) for array in (y, table, dz))
    product, transpose = running.matmul, running.transpose
    bounds = product(g, E), product(transpose(g), Y)
    return (
        running.misses(z, exact, product(Y, transpose(E))),
        *(running.misses(*each) for each in zip(layer.backward(dz, cache), exact_gradients, bounds, strict=True)),
    )


def ball_misses(layer, y, table, dz, not_enclosed, gradient_by_differences):
    with precision(113):
        z, cache = layer.forward(to_balls(y), to_balls(table))
        dy, dtable = layer.backward(to_balls(dz), cache)
    Y, E = (np.frompyfunc(mpmath.mpf, 1, 1)(array) for array in (y, table))
    with mpmath.workdps(50):
        forward = by_definition(Y, E)
    by_y = gradient_by_differences(lambda y: by_definition(y, E), y, dz)
    by_table = gradient_by_differences(lambda table: by_definition(Y, table), table, dz)
    return tuple(not_enclosed(*pair) for pair in ((z, forward), (dy, by_y), (dtable, by_table)))


def arguments(sample, leading, d, v, dtype=np.float64):
    """y, table and dz."""
    shapes = (*leading, d), (v, d), (*leading, v)
    return tuple(sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes))


@pytest.mark.parametrize(("n", "d", "v"), SIZES)
def test_floats_stay_within_the_rounding_bound(n, d, v, dtype, running, sample):
    assert float_misses(unembedding, *arguments(sample, (n,), d, v, dtype), running) == (0, 0, 0)


@pytest.mark.parametrize(("n", "d", "v"), [(3, 4, 2), (1, 1, 1), (2, 1, 3), (3, 2, 1)])
def test_balls_enclose_the_definition(n, d, v, sample, not_enclosed, gradient_by_differences):
    values = arguments(sample, (n,), d, v)
    assert ball_misses(unembedding, *values, not_enclosed, gradient_by_differences) == (0, 0, 0)


def mutant_forward(formula=lambda y, table: y @ table.T):
    def forward(y, table):
        return round_to(formula(widen(y), widen(table)), y.dtype), unembedding.forward(y, table)[1]

    return SimpleNamespace(forward=forward, backward=unembedding.backward)


def mutant_backward(dy=lambda g, y, table: g @ table, dtable=lambda g, y, table: g.T @ y):
    def backward(dz, cache):
        return tuple(round_to(formula(widen(dz), *cache[:2]), dz.dtype) for formula in (dy, dtable))

    return SimpleNamespace(forward=unembedding.forward, backward=backward)


MUTANTS = {
    "table not transposed": mutant_forward(lambda y, table: y @ table),
    "scaled as the embedding is": mutant_forward(lambda y, table: 2 * (y @ table.T)),
    "y transposed": mutant_forward(lambda y, table: y.T @ table.T),
    "dy: table transposed": mutant_backward(dy=lambda g, y, table: g @ table.T),
    "dy negated": mutant_backward(dy=lambda g, y, table: -(g @ table)),
    "dtable transposed": mutant_backward(dtable=lambda g, y, table: y.T @ g),
    "dtable of one row": mutant_backward(dtable=lambda g, y, table: g[:1].T @ y[:1]),
    "dtable a mean": mutant_backward(dtable=lambda g, y, table: g.T @ y / len(y)),
}


def test_the_mutants_without_a_mutation_are_the_layer(running, sample):
    values = arguments(sample, (3,), 3, 3, running.dtype)
    for layer in (mutant_forward(), mutant_backward()):
        assert float_misses(layer, *values, running) == (0, 0, 0)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, running, sample, not_enclosed, gradient_by_differences):
    values = arguments(sample, (3,), 3, 3, dtype)
    assert sum(float_misses(MUTANTS[name], *values, running)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], *values, not_enclosed, gradient_by_differences)) > 0


def test_a_table_that_embeds_and_reads_out_has_the_sum_of_both_gradients(sample):
    tokens, table, dz, v = (
        np.array([2, 0, 2]),
        *(to_balls(sample(shape, seed=i)) for i, shape in enumerate([(4, 3), (3, 4), (4, 3)])),
    )

    def run(table):
        x, first = embedding.forward(table, tokens)
        z, last = unembedding.forward(x, table)
        return z, first, last

    with precision(113):
        _, first, last = run(table)
        dx, dtable = unembedding.backward(dz, last)
        pulled = np.sum((dtable + embedding.backward(dx, first)) * v)
        (along,) = derivative(lambda table: run(table)[0], [table], [v])
        assert np.sum(dz * along).overlaps(pulled) and pulled.rad() < 1e-25
        assert not np.sum(dz * along).overlaps(np.sum(dtable * v))


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_leading_axes_are_rows(leading, dtype, sample):
    y, table, dz = arguments(sample, leading, 4, 3, dtype)
    z, cache = unembedding.forward(y, table)
    dy, dtable = unembedding.backward(dz, cache)
    flat, flat_cache = unembedding.forward(y.reshape(-1, 4), table)
    flat_dy, flat_dtable = unembedding.backward(dz.reshape(-1, 3), flat_cache)
    assert np.array_equal(z.reshape(-1, 3), flat) and np.array_equal(dy.reshape(-1, 4), flat_dy)
    assert np.array_equal(dtable, flat_dtable)
    assert (z.shape, dy.shape, dtable.shape) == ((*leading, 3), y.shape, table.shape)
    assert {array.dtype for array in (z, dy, dtable)} == {dtype}


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(dtype):
    table = np.ones((3, 4), np.float32)
    z, cache = unembedding.forward(np.zeros((2, 0, 4), dtype), to_balls(table) if dtype is object else table)
    dy, dtable = unembedding.backward(z, cache)
    assert z.shape == (2, 0, 3) and dy.shape == (2, 0, 4) and dtable.shape == (3, 4) and (dtable == 0).all()
    assert all(isinstance(entry, arb) for entry in dtable.flat) == (dtype is object)


Y, TABLE = np.zeros((2, 3)), np.zeros((4, 3))
CACHE = unembedding.forward(Y, TABLE)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: unembedding.forward([1.0], TABLE), TypeError, "unembedding: y is a list, needed a NumPy array"),
        (lambda: unembedding.forward(Y.astype(int), TABLE), TypeError, "y has dtype int64, needed float16, bfloat16"),
        (lambda: unembedding.forward(Y[:, :0], TABLE), ValueError, r"y has shape \(2, 0\), empty along axis -1"),
        (lambda: unembedding.forward(Y, TABLE[:, 0]), ValueError, r"table has shape \(4,\), needed ndim >= 2"),
        (lambda: unembedding.forward(Y, TABLE[:0]), ValueError, r"table has shape \(0, 3\), needed at least one entry"),
        (lambda: unembedding.forward(Y, TABLE.T), ValueError, r"table has shape \(3, 4\), needed \(3, 3\)"),
        (lambda: unembedding.forward(Y, TABLE[None]), ValueError, r"table has shape \(1, 4, 3\), needed \(1, 3\)"),
        (lambda: unembedding.forward(Y, to_balls(TABLE)), TypeError, "table holds balls, needed floats, since"),
        (lambda: unembedding.backward(Y, CACHE), ValueError, r"dz has shape \(2, 3\), needed \(2, 4\)"),
        (lambda: unembedding.backward(to_balls(np.zeros((2, 4))), CACHE), TypeError, "enclose nothing; call forward"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
