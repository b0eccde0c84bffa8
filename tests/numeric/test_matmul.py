"""Products of matrices of balls: enclosed, as narrow as NumPy's, for stacks, jets and no terms at all; and fast."""

from fractions import Fraction
from time import process_time

import numpy as np
import pytest
from flint import arb, arb_series

from numeric.arithmetic import at_zero, encloses, matmul, midpoint, precision, radius, to_balls
from numeric.derivatives import derivative
from numeric.jets import Jet, order
from numeric.layers import attention, linear

SHAPES = [
    ((3, 5), (5, 4)),
    ((1, 1), (1, 1)),
    ((2, 3, 5), (5, 4)),
    ((2, 1, 3, 5), (1, 4, 5, 2)),
    ((3, 90), (90, 2)),
    ((70, 80), (80, 60)),
]


def exact_product(a, b):
    """In rational numbers."""
    fractions = np.frompyfunc(Fraction, 1, 1)
    return fractions(a) @ fractions(b)


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_products_of_floats_are_enclosed(left, right):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(left), rng.standard_normal(right)
    with precision(300):  # where every sum of products is exact
        product = matmul(to_balls(a), to_balls(b))
        exact = np.frompyfunc(lambda f: arb(f.numerator) / f.denominator, 1, 1)(exact_product(a, b))
    assert product.shape == np.matmul(a, b).shape
    with precision(60):
        narrow = matmul(to_balls(a), to_balls(b))
    assert encloses(narrow, exact).all()
    assert not encloses(narrow + 1, exact).any()


def test_radii_are_those_of_a_plain_sum_also_where_sizes_differ_by_hundreds_of_digits():
    rng = np.random.default_rng(1)
    sizes = np.exp(rng.uniform(-300, 0, (64, 64)))
    with precision(100):
        a, b = np.exp(to_balls(np.log(sizes))), np.exp(to_balls(rng.standard_normal((64, 64))))
        ours, plain = radius(matmul(a, b)), radius(a @ b)
    assert (ours <= 4 * plain).all() and (ours > 0).all()


def test_infinities_and_nan_spoil_their_own_rows_only():
    a, b = to_balls([[1.0, float("inf")], [2.0, 3.0], [float("nan"), 1.0]]), to_balls([[1.0, 2.0], [0.5, 4.0]])
    product = matmul(a, b)
    assert product[0, 0] == arb("inf") and product[1].tolist() == [arb(3.5), arb(16)]
    assert product[2, 0].is_nan()


def test_without_terms_it_is_exact_zeros():
    product = matmul(np.empty((3, 0), object), np.empty((0, 2), object))
    assert product.shape == (3, 2) and all(isinstance(each, arb) and each == 0 for each in product.flat)
    assert matmul(np.empty((0, 3), object), to_balls(np.ones((3, 2)))).shape == (0, 2)
    _, gradient, _ = linear.backward(
        np.empty((0, 2), object),
        linear.forward(np.empty((0, 3), object), to_balls(np.ones((3, 2))), to_balls(np.ones(2)))[1],
    )
    assert gradient.shape == (3, 2) and all(isinstance(each, arb) for each in gradient.flat)


def test_floats_stay_floats_and_bits_of_numpy():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 3, 5)).astype(np.float32), rng.standard_normal((5, 4)).astype(np.float32)
    assert matmul(a, b).dtype == np.float32 and (matmul(a, b) == a @ b).all()


def test_floats_beside_balls_are_taken_exactly():
    a, b = np.array([[0.1, 2.0]]), to_balls([[3.0], [0.5]])
    assert encloses(matmul(a, b), matmul(to_balls(a), b)).all() and matmul(a, b).dtype == object


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(
        ValueError, match=r"a has shape \(2, 3\) and b \(2, 3\), needed as many columns of a as rows of b"
    ):
        matmul(to_balls(np.ones((2, 3))), to_balls(np.ones((2, 3))))


def test_jets_among_balls_give_the_derivative_of_a_product():
    rng = np.random.default_rng(3)
    a, v, b = rng.standard_normal((3, 4)), rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
    (moves,) = derivative(lambda x: matmul(x, to_balls(b)), [a], [v])
    assert encloses(moves, to_balls(v) @ to_balls(b)).all()
    q, k, w = (rng.standard_normal(shape) for shape in ((3, 2), (4, 2), (4, 5)))
    (along,) = derivative(lambda x: attention.forward(x, to_balls(k), to_balls(w))[0], [q], [np.ones((3, 2))])
    dq, _, _ = attention.backward(to_balls(np.ones((3, 5))), attention.forward(*map(to_balls, (q, k, w)))[1])
    assert (np.sum(along) - np.sum(dq)).contains(0) and (np.sum(along) - np.sum(dq)).rad() < 1e-12


def test_a_subclass_of_jets_counts_as_jets():
    class Other(Jet):
        pass

    number = Other(arb_series([arb(2), arb(3)]))
    with order(1):
        array = np.array([[number, arb(5)]], dtype=object)
        assert at_zero(array).tolist() == [[arb(2), arb(5)]] and midpoint(array)[0, 0] == 2
        [[product]] = matmul(array, to_balls([[1.0], [10.0]]))
    assert product.coefficient(0) == 52 and product.coefficient(1) == 3


@pytest.mark.slow
def test_it_is_many_times_as_fast_as_object_arrays():
    rng = np.random.default_rng(4)
    with precision(128):
        a, b = to_balls(rng.standard_normal((96, 96))), to_balls(rng.standard_normal((96, 96)))

        def seconds(product):
            times = []
            for _ in range(3):
                start = process_time()
                product(a, b)
                times.append(process_time() - start)
            return min(times)

        assert 5 * seconds(matmul) < seconds(np.matmul)
