# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import math

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric import optimizer
from numeric.arithmetic import largest_error, precision, radius, to_balls, to_floats
from numeric.checker.formats import precision_of
from numeric.checker.rounding import Rounded, allowance
from numeric.layers import cross_entropy, linear
from numeric.optimizer import Adam, State, accumulate, clip, global_norm, initial, learning_rate, mean_gradient, update
from numeric.parameters import flatten
from proofs.evaluate import Point, evaluate
from proofs.theorems import training, training_schedule

FLOATS = [np.dtype(np.float32), np.dtype(np.float64)]
STEPS, RATES = 5, (0.5, 0.125, 0.0, 0.25, -0.75)
VISIBLE = Adam(0.9, 0.98, 0.03125)  # with an eps that makes a difference wherever it stands


@pytest.fixture(params=FLOATS, ids=str)
def dtype(request):
    return request.param


def sample(shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32).astype(dtype)


def run(params, gradients, adam, rates=RATES):
    """The parameters of one array, and the moments, after a step for each gradient."""
    tree = {"p": params.copy()}
    state = initial(tree)
    for gradient, rate in zip(gradients, rates, strict=True):
        tree, state = update(tree, {"p": gradient}, state, rate, adam)
    return tree["p"], state.m["p"], state.v["p"]


def algorithm_1(params, gradients, adam, rates=RATES):
    """Kingma & Ba 2015, algorithm 1, entry by entry in mpmath."""
    exact = [mpmath.mpf(each) for each in adam]
    results = np.empty((3, *params.shape), dtype=object)
    for index in np.ndindex(params.shape):
        theta, m, v = mpmath.mpf(float(params[index])), mpmath.mpf(0), mpmath.mpf(0)
        for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
            g = mpmath.mpf(float(gradient[index]))
            m = exact[0] * m + (1 - exact[0]) * g
            v = exact[1] * v + (1 - exact[1]) * g**2
            m_hat, v_hat = m / (1 - exact[0] ** t), v / (1 - exact[1] ** t)
            theta -= mpmath.mpf(rate) * m_hat / (mpmath.sqrt(v_hat) + exact[2])
        results[(slice(None), *index)] = theta, m, v
    return results


def enclosures(numbers):
    """Balls of radius 1e-45 around numbers of 60 digits."""
    return np.frompyfunc(lambda number: arb(number, 1e-45), 1, 1)(numbers)


def truth(*arguments):
    with mpmath.workdps(60), precision(200):
        return enclosures(algorithm_1(*arguments))


# Bounds on rounding


def rest_of_one(number, form):
    """1 - b^T: in float64 the power errs by 2^-52 at most, the difference by 2^-53; then it is rounded to the dtype."""
    return Rounded.given(1 - number, form).loosened(np.asarray(2.0**-51))


def bounds(params, gradients, adam, form, move, rates=RATES):
    """Parameters and moments as `Rounded`, `move` being how the step is spelled."""
    p, m, v = (Rounded.exact(array, form) for array in (params, 0 * params, 0 * params))
    w1, w2 = (rest_of_one(beta, form) for beta in (adam.beta1, adam.beta2))
    for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        g = Rounded.exact(gradient, form)
        m, v = m + w1 * (g - m), v + w2 * (g * g - v)
        p = p + move(rate, m, v, adam, t, form)
    return p, m, v


def our_move(rate, m, v, adam, t, form):
    root = (v / rest_of_one(adam.beta2**t, form)) ** Rounded.exact(0.5, form)
    m_hat = m / rest_of_one(adam.beta1**t, form)
    return Rounded.given(-rate, form) * m_hat / (root + Rounded.given(adam.eps, form))


def torch_move(rate, m, v, adam, t, form):
    """torch.optim.adam: the scalars a / (1 - b1^t) and sqrt(1 - b2^t) are float64, with errors below 2^-49 of them."""
    size, root = rate / (1 - adam.beta1**t), math.sqrt(1 - adam.beta2**t)
    scalars = [Rounded.given(x, form).loosened(np.asarray(2.0**-49 * (1 + abs(x)))) for x in (-size, root)]
    return scalars[0] * (m / (v ** Rounded.exact(0.5, form) / scalars[1] + Rounded.given(adam.eps, form)))


def misses(values, balls, bound):
    """How many entries of each array lie farther from the truth than the bound allows."""
    counts = []
    for value, ball, allowed in zip(values, balls, bound, strict=True):
        assert np.isfinite(allowance(allowed)).all()
        counts.append(int(np.count_nonzero(~(largest_error(value, ball) <= allowance(allowed)))))
    return counts


def adam_misses(dtype, adam=VISIBLE):
    params, gradients = sample((3, 4), dtype), [sample((3, 4), dtype, seed) for seed in range(1, STEPS + 1)]
    bound = bounds(params, gradients, adam, precision_of(dtype.name), our_move)
    return misses(run(params, gradients, adam), truth(params, gradients, adam), bound)


# Adam


@pytest.mark.parametrize("adam", [VISIBLE, Adam(), Adam(0.0, 0.5, 1e-8), Adam(0.5, 0.0, 2.0)])
def test_floats_stay_within_the_rounding_bound(adam, dtype):
    assert adam_misses(dtype, adam) == [0, 0, 0]


@pytest.mark.parametrize("adam", [VISIBLE, Adam()])
def test_balls_enclose_algorithm_1(adam):
    params, gradients = sample((2, 3)), [sample((2, 3), seed=seed) for seed in range(1, STEPS + 1)]
    with precision(160):
        results = run(to_balls(params), map(to_balls, gradients), adam)
    for balls, numbers in zip(results, truth(params, gradients, adam), strict=True):
        assert all(ball.overlaps(number) for ball, number in zip(balls.flat, numbers.flat, strict=True))
        assert (radius(balls) < 1e-35).all()


MUTANTS = {
    "no bias correction": ("corrected", lambda m, p: m),
    "the correction multiplies": ("corrected", lambda m, p: m * (1 - p)),
    "the correction has 1 + p": ("corrected", lambda m, p: m / (1 + p)),
    "eps inside the root": ("adam_step", lambda rate, eps, m, v: (-rate * m / np.sqrt(v + eps)).astype(m.dtype)),
    "eps forgotten": ("adam_step", lambda rate, eps, m, v: -rate * m / np.sqrt(v)),
    "eps subtracted": ("adam_step", lambda rate, eps, m, v: -rate * m / (np.sqrt(v) - eps)),
    "no root": ("adam_step", lambda rate, eps, m, v: -rate * m / (v + eps)),
    "uphill": ("adam_step", lambda rate, eps, m, v: rate * m / (np.sqrt(v) + eps)),
    "no rate": ("adam_step", lambda rate, eps, m, v: -m / (np.sqrt(v) + eps)),
    "weights exchanged": ("average", lambda beta, m, g: (1 - beta) * m + beta * g),
    "a sum for an average": ("average", lambda beta, m, g: beta * m + g),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, monkeypatch):
    monkeypatch.setattr(optimizer, *MUTANTS[name])
    assert sum(adam_misses(dtype)) > 0


def test_a_mutant_without_a_mutation_is_not(dtype, monkeypatch):
    monkeypatch.setattr(optimizer, "adam_step", lambda rate, eps, m, v: -rate * m / (np.sqrt(v) + eps))
    monkeypatch.setattr(optimizer, "corrected", lambda m, p: m / (1 - p))
    assert adam_misses(dtype) == [0, 0, 0]


def decayed(m, b):
    """corrected(m, b / (1 + b)): the power of a decay, any number below 1."""
    return optimizer.corrected(m, b.item() / (1 + b.item()))


def of_numbers(function):
    return lambda *arrays: np.asarray(function(*(array.item() for array in arrays)), dtype=object)


DEFINED = [
    (lambda b, m, g: optimizer.average(b.item(), m, g), training.average, [training.b, training.moment, training.g]),
    (decayed, lambda m, b: training.corrected(m, b / (1 + b)), [training.moment, training.b]),
    (
        lambda rate, eps, m, v: optimizer.adam_step(rate.item(), eps.item(), m, v),
        training.adam_step,
        [training.rate, training.eps, training.moment, training.second],
    ),
    (
        of_numbers(learning_rate),
        training_schedule.learning_rate,
        [training_schedule.d, training_schedule.w, training_schedule.s],
    ),
    (of_numbers(optimizer.minimum), training_schedule.minimum, [training_schedule.x, training_schedule.y]),
]


@pytest.mark.parametrize(("function", "definition", "variables"), DEFINED)
@pytest.mark.parametrize("seed", range(4))
def test_the_functions_are_what_the_theorems_define(function, definition, variables, seed):
    point = Point(seed)
    values = [to_balls(arb(evaluate(variable, point))) for variable in variables]
    with precision(160):
        result = function(*values).item()
        assert result.overlaps(arb(evaluate(definition(*variables), point), 1e-40)) and float(result.rad()) < 1e-30


@pytest.mark.parametrize("gradient", [3.0, -0.5, 0.0, 1e-6])
def test_the_first_step_has_the_size_of_the_rate(gradient):
    """training.first_step: -a g / (|g| + eps), whatever the decays."""
    with precision(160):
        p, m, _ = run(to_balls([1.0]), [to_balls([gradient])], Adam(0.75, 0.99, arb("1e-9")), [0.25])
        step = -arb(0.25) * gradient / (abs(arb(gradient)) + arb("1e-9"))
        assert (p[0] - 1).overlaps(step) and m[0].overlaps(arb(gradient) / 4)
    assert (radius(p) < 1e-40).all()


@pytest.mark.slow  # torch.optim alone needs seconds to load
@pytest.mark.parametrize("form", FLOATS, ids=str)
def test_torch_takes_the_same_steps(form):
    torch = pytest.importorskip("torch")
    params, gradients = sample((3, 4), form), [sample((3, 4), form, seed) for seed in range(1, STEPS + 1)]
    theirs = torch.tensor(params, requires_grad=True)
    other = torch.optim.Adam([theirs], betas=VISIBLE[:2], eps=VISIBLE.eps, foreach=False, fused=False)
    rates = [abs(rate) for rate in RATES]  # torch refuses negative ones
    for gradient, rate in zip(gradients, rates, strict=True):
        other.param_groups[0]["lr"] = rate
        theirs.grad = torch.tensor(gradient)
        other.step()
    kept = other.state[theirs]
    found = theirs.detach().numpy(), kept["exp_avg"].numpy(), kept["exp_avg_sq"].numpy()
    arguments = params, gradients, VISIBLE, precision_of(form.name)
    ours = run(*arguments[:3], rates)
    allowed = zip(bounds(*arguments, our_move, rates), bounds(*arguments, torch_move, rates), strict=True)
    for a, b, each in zip(ours, found, allowed, strict=True):
        assert (largest_error(a, to_balls(b)) <= sum(map(allowance, each))).all()


def test_updates_are_written_in_place_and_gradients_stay(dtype):
    params, gradient = (
        {"a": [sample(5, dtype), sample((2, 2), dtype)]},
        {"a": [sample(5, dtype), sample((2, 2), dtype)]},
    )
    state, before = initial(params), [array.copy() for array in gradient["a"]]
    new_params, new_state = update(params, gradient, state, 0.5)
    assert new_params is params and new_state == State(1, state.m, state.v)
    assert all(np.array_equal(*pair) for pair in zip(gradient["a"], before, strict=True))
    assert state.m["a"][0].any() and state.step == 0


def test_any_layout_and_size_is_the_same_as_entry_by_entry(dtype, monkeypatch):
    big, gradients = sample((6, 35), dtype), [sample((6, 35), dtype, seed) for seed in (1, 2)]
    whole = run(big, gradients, Adam(), RATES[:2])
    monkeypatch.setattr(optimizer, "BLOCK", 8)
    for view in (np.s_[:], np.s_[::2, 1::3], np.s_[::-1], np.s_[:0], np.s_[2, 3]):
        tree = {"p": np.asfortranarray(big)[view]} if big[view].ndim else {"p": np.array(big[view])}
        state = initial(tree)
        for gradient, rate in zip(gradients, RATES[:2], strict=True):
            tree, state = update(tree, {"p": np.asarray(gradient[view])}, state, rate)
        assert np.array_equal(tree["p"], whole[0][view]) and np.array_equal(state.v["p"], whole[2][view])
        assert tree["p"].dtype == dtype


def test_a_gradient_that_stays_zero_moves_nothing(dtype):
    params = sample(4, dtype)
    p, m, v = run(params, 3 * [np.zeros(4, dtype)], Adam(), (1.0, 1.0, 1.0))
    assert np.array_equal(p, params) and not m.any() and not v.any()


# The learning rate


def rate_misses(function):
    """How many rates at a few sizes and steps differ from equation 3 by more than five roundings allow."""
    count = 0
    for d, w, s in [(512, 4000, 1), (512, 4000, 3999), (512, 4000, 4000), (64, 4000, 100000), (1, 1, 1), (7, 3, 2)]:
        with mpmath.workdps(50), precision(160):
            exact = mpmath.mpf(d) ** -0.5 * min(mpmath.mpf(s) ** -0.5, s * mpmath.mpf(w) ** -1.5)
            # at most five operations are in a row, each within 2^-53: Higham 2002, lemma 3.1
            allowed = 5 * 2.0**-53 / (1 - 5 * 2.0**-53) * float(exact)
            count += not largest_error(np.array(function(d, w, s)), enclosures(np.array(exact))) <= allowed
            ball = function(arb(d), w, s)
            count += not (ball.overlaps(arb(exact, 1e-45)) and float(ball.rad()) < 1e-40)
    return count


def test_the_learning_rate_is_equation_3():
    assert rate_misses(learning_rate) == 0
    assert type(learning_rate(512, 4000, np.int64(7))) is float and type(learning_rate(512, arb(4000), 7)) is arb


def mutant_rate(
    falling=lambda s: s**-1 * s.sqrt(), rising=lambda s, w: s / (w * w.sqrt()), d=lambda d: d.sqrt(), of=arb.min
):
    def rate(d_model, w, s):
        exact = of(falling(arb(s)), rising(arb(s), arb(w))) / d(arb(d_model))
        return exact if isinstance(d_model, arb) else float(exact)

    return rate


@pytest.mark.parametrize(
    "mutant",
    [
        mutant_rate(rising=lambda s, w: s / w),
        mutant_rate(rising=lambda s, w: s / w.sqrt()),
        mutant_rate(rising=lambda s, w: s / (w * w)),
        mutant_rate(rising=lambda s, w: (s - 1) / (w * w.sqrt())),
        mutant_rate(falling=lambda s: 1 / s),
        mutant_rate(falling=lambda s: s.sqrt()),
        mutant_rate(d=lambda d: d),
        mutant_rate(d=lambda d: 1 / d.sqrt()),
        mutant_rate(of=arb.max),
    ],
)
def test_mutant_rates_are_caught(mutant):
    assert rate_misses(mutant) > 0


def test_the_mutant_rate_without_a_mutation_is_not():
    assert rate_misses(mutant_rate()) == 0


def test_the_rate_rises_to_the_end_of_the_warm_up_and_falls_after_it():
    rates = np.array([learning_rate(512, 20, step) for step in range(1, 100)])
    assert (np.diff(rates[:20]) > 0).all() and (np.diff(rates[19:]) < 0).all()
    assert learning_rate(arb(512), 20, 20).overlaps(1 / (arb(512) * 20).sqrt())


def test_the_smaller_of_balls_that_overlap_holds_both_answers():
    low, high = arb(1, 0.5), arb(1.25, 0.5)
    least = optimizer.minimum(low, high)
    assert all(least.contains(arb(x)) for x in (0.75, 1.0, 1.5)) and not least.contains(arb(1.75))
    assert optimizer.minimum(2, arb(1)) == 1


# Gradients


def clip_misses(function, dtype):
    """Entries beyond the bound where clipping is needed; whether what is short, or as long as allowed, stays."""
    tree = {"a": [sample((3, 5), dtype), sample(4, dtype, 1)], "b": sample((2, 2), dtype, 2)}
    u, count = float(np.finfo(dtype).eps) / 2, 0
    with precision(200):
        norm = sum(((ball * ball).sum() for ball in map(to_balls, flatten(tree).values())), arb(0)).sqrt()
        for largest in (0.5, 2.0, float(norm) * 0.999):
            clipped, _ = function(tree, largest)
            # norm: 24 squares, sums and a root in float64; then a quotient, its rounding to the dtype, a product
            eps = 26 * 2.0**-53 + 2 * u
            for name, array in flatten(clipped).items():
                exact = to_balls(flatten(tree)[name]) * largest / norm
                allowed = eps / (1 - eps) * np.abs(to_floats(exact)) * (1 + 2.0**-40)
                count += np.count_nonzero(~(largest_error(array, exact) <= allowed)) + (array.dtype != dtype)
    for largest in (float(norm) * 1.001, math.inf):
        count += not all(np.array_equal(a, b) for a, b in zip(tree["a"], function(tree, largest)[0]["a"], strict=True))
    return int(count)


def mutant_clip(
    norm=global_norm, factor=lambda norm, largest: largest / norm, where=lambda norm, largest: norm > largest
):
    def function(tree, largest):
        size = norm(tree)
        scale = factor(size, largest) if where(size, largest) else 1.0
        return {"a": [scale * array for array in tree["a"]], "b": scale * tree["b"]}, size

    return function


def test_clipping_shortens_to_the_norm_and_keeps_the_direction(dtype):
    assert clip_misses(clip, dtype) == clip_misses(mutant_clip(), dtype) == 0


@pytest.mark.parametrize(
    "mutant",
    [
        mutant_clip(norm=lambda tree: math.sqrt(float((tree["a"][0].astype(float) ** 2).sum()))),
        mutant_clip(norm=lambda tree: global_norm(tree) ** 2),
        mutant_clip(norm=lambda tree: max(float(abs(array).max()) for array in flatten(tree).values())),
        mutant_clip(factor=lambda norm, largest: norm / largest),
        mutant_clip(factor=lambda norm, largest: largest),
        mutant_clip(factor=lambda norm, largest: 1 / norm),
        mutant_clip(where=lambda norm, largest: norm < largest),
        mutant_clip(where=lambda norm, largest: True),
        mutant_clip(where=lambda norm, largest: False),
        lambda tree, largest: ({"a": [np.clip(x, -largest, largest) for x in tree["a"]], "b": tree["b"]}, 0.0),
    ],
)
def test_mutant_clippings_are_caught(mutant, dtype):
    assert clip_misses(mutant, dtype) > 0


def test_the_norm_is_that_of_the_whole_tree():
    tree = {"a": [np.array([[3.0, 0]]), np.array(4.0)], "b": np.array([12.0, 84.0])}
    assert global_norm(tree) == 85.0 and clip(tree, 85.0) == (tree, 85.0)
    assert global_norm({"a": np.array([3e30, 4e30], np.float32)}) == pytest.approx(
        5e30, rel=2.0**-23
    )  # whose square overflows


def loss_gradient(x, W, b, targets):
    """The gradient of the mean loss over the tokens that count, and how many those are."""
    y, lower = linear.forward(x, W, b)
    _, upper = cross_entropy.forward(y, targets, ignore_index=0)
    _, dW, db = linear.backward(cross_entropy.backward(to_balls(1.0).reshape(()), upper), lower)
    return {"W": dW, "b": db}, int((targets != 0).sum())


def accumulation_misses(combine):
    """How many entries of the gradient over micro-batches are not those of the whole batch; `combine` takes pairs."""
    x, W, b = (to_balls(sample(shape, seed=seed)) for seed, shape in enumerate([(4, 3, 2), (2, 5), (5,)]))
    targets = np.array([[1, 2, 3], [4, 0, 0], [2, 1, 0], [3, 0, 0]])
    with precision(160):
        whole, _ = loss_gradient(x, W, b, targets)
        parts = [loss_gradient(x[cut], W, b, targets[cut]) for cut in (np.s_[:1], np.s_[1:2], np.s_[2:])]
        difference = [
            one - other for one, other in zip(flatten(whole).values(), flatten(combine(parts)).values(), strict=True)
        ]
        return sum(not ball.contains(0) or float(ball.rad()) > 1e-40 for array in difference for ball in array.flat)


def accumulated(parts):
    total = None
    for gradients, tokens in parts:
        total = accumulate(gradients, tokens, total)
    return mean_gradient(total)


def weighted(parts, weight=lambda n: n, total=sum):
    whole = total(weight(n) for _, n in parts)
    return {name: sum(weight(n) * g[name] for g, n in parts) / whole for name in ("W", "b")}


def test_accumulation_gives_the_gradient_of_the_whole_batch():
    assert accumulation_misses(accumulated) == accumulation_misses(weighted) == 0


@pytest.mark.parametrize(
    "mutant",
    [
        lambda parts: weighted(parts, weight=lambda n: 1),  # the mean of means
        lambda parts: weighted(parts, total=lambda counts: len(list(counts))),
        lambda parts: weighted(parts, weight=lambda n: 1, total=lambda counts: 1),
        lambda parts: weighted(parts, weight=lambda n: n * n),
        lambda parts: weighted(parts[1:]),
        lambda parts: weighted([(g, 3) for g, _ in parts]),  # padding counted as well
    ],
)
def test_mutant_accumulations_are_caught(mutant):
    assert accumulation_misses(mutant) > 0


def test_accumulation_of_floats_stays_within_the_rounding_bound(dtype):
    parts = [({"a": sample((2, 3), dtype, seed)}, tokens) for seed, tokens in enumerate([7, 1, 1000])]
    before = [gradients["a"].copy() for gradients, _ in parts]
    result, form = accumulated(parts)["a"], precision_of(dtype.name)
    terms = [Rounded.exact(tokens, form) * Rounded.exact(g["a"], form) for g, tokens in parts]
    bound = (terms[0] + terms[1] + terms[2]) / Rounded.exact(1008.0, form)
    with precision(200):
        exact = sum(tokens * to_balls(g["a"]) for g, tokens in parts) / arb(1008)
    assert misses([result], [exact], [bound]) == [0] and result.dtype == dtype
    assert all(np.array_equal(g["a"], array) for (g, _), array in zip(parts, before, strict=True))


# Errors

ONE, INF = {"a": [np.ones(2), np.ones((2, 2))]}, np.array([[1.0, np.inf], [np.nan, 1.0]])
FRESH = initial(ONE)


def with_leaf(array):
    return {"a": [np.ones(2), array]}


FIXED = np.ones((2, 2))
FIXED.flags.writeable = False


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: update(ONE, {"a": [np.ones(2)]}, FRESH, 0.1),
            ValueError,
            "gradients and params .* same names, as a.1",
        ),
        (
            lambda: update(ONE, with_leaf(np.ones(4)), FRESH, 0.1),
            ValueError,
            r"a.1 in gradients has shape \(4,\) and .*64, needed shape \(2, 2\)",
        ),
        (
            lambda: update(ONE, with_leaf(INF.astype("f")), FRESH, 0.1),
            ValueError,
            "has .* dtype float32, needed .* dtype float64, as in params",
        ),
        (
            lambda: update(ONE, with_leaf(to_balls(FIXED)), FRESH, 0.1),
            ValueError,
            "dtype object, needed .* dtype float64",
        ),
        (
            lambda: update(with_leaf(FIXED.astype("e")), ONE, FRESH, 0.1),
            TypeError,
            "a.1 in params has dtype float16, needed float32, float64 or balls",
        ),
        (
            lambda: update(with_leaf(FIXED.astype(int)), ONE, FRESH, 0.1),
            TypeError,
            "a.1 in params has dtype int64, needed",
        ),
        (
            lambda: update(with_leaf(FIXED), ONE, FRESH, 0.1),
            ValueError,
            "a.1 in params is read-only, needed an array to write to",
        ),
        (
            lambda: update(ONE, ONE, FRESH._replace(step=-1), 0.1),
            ValueError,
            "step is 0, needed an integer of at least 1",
        ),
        (lambda: update(ONE, ONE, FRESH, math.nan), ValueError, "rate is nan, needed a finite number"),
        (lambda: update(ONE, ONE, FRESH, arb(1)), TypeError, "rate is a ball, needed a float"),
        (lambda: update(ONE, ONE, FRESH, 0.1, Adam(beta1=1.0)), ValueError, "beta1 is 1.0, needed 0 <= beta1 < 1"),
        (lambda: update(ONE, ONE, FRESH, 0.1, Adam(beta2=-0.5)), ValueError, "beta2 is -0.5, needed 0 <= beta2 < 1"),
        (lambda: update(ONE, ONE, FRESH, 0.1, Adam(beta2=math.nan)), ValueError, "beta2 is nan"),
        (lambda: update(ONE, ONE, FRESH, 0.1, Adam(eps=0.0)), ValueError, "eps is 0.0, needed a finite number above 0"),
        (lambda: learning_rate(512, 4000, 0), ValueError, "optimizer: step is 0, needed a finite number above 0"),
        (lambda: learning_rate(512, 0, 1), ValueError, "warmup is 0, needed"),
        (lambda: learning_rate("512", 4000, 1), TypeError, "d_model is '512', needed one real number"),
        (lambda: clip(ONE, 0.0), ValueError, "largest is 0.0, needed a float above 0; inf clips nothing"),
        (lambda: clip(ONE, math.nan), ValueError, "largest is nan"),
        (
            lambda: clip(with_leaf(INF), 1.0),
            FloatingPointError,
            r"the gradient of a.1 is inf at index \(0, 1\) \(2 entries .* Lower the learning rate",
        ),
        (
            lambda: global_norm(with_leaf(np.full(2, 1e200))),
            FloatingPointError,
            "the norm of the gradient overflows at a.1",
        ),
        (lambda: global_norm({"a": to_balls([1.0])}), TypeError, "the gradient of a holds balls, needed floats"),
        (lambda: accumulate(ONE, 0), ValueError, "tokens is 0, needed an integer of at least 1"),
        (
            lambda: accumulate(with_leaf(np.ones(3)), 1, accumulate(ONE, 1)),
            ValueError,
            r"a.1 in gradients has shape \(3,\)",
        ),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with np.errstate(over="ignore"), pytest.raises(error, match=message):
        call()
    assert all((array == 1).all() for array in ONE["a"]) and not any(array.any() for array in FRESH.m["a"])
