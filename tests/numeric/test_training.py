# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("num2words")

from numeric import checkpoint, model, optimizer, spelling, training
from numeric.arithmetic import precision, to_balls
from numeric.checkpoint import CheckpointError
from numeric.parameters import flatten, map_leaves
from numeric.spelling import BOS, EOS, PAD
from numeric.training import LONGEST, Settings, advance, begin, config_for, gradient_of, names, resume, save, score

TINY = Settings("ko", rows=6, warmup=20, factor=0.75, seed=3, limit=1000, held_out=20)


def tiny(settings=TINY, **more):
    return begin(config_for(settings.language, d_model=8, d_ff=12, n_heads=2, n_layers=1, **more), settings)


def steps(run, count):
    seen = []
    for _ in range(count):
        run, progress = advance(run)
        seen.append(progress)
    return run, seen


def same(one, other):
    """Parameters and moments, bit for bit."""
    trees = ([each.params, each.state.m, each.state.v] for each in (one, other))
    return one.state.step == other.state.step and all(
        a.tobytes() == b.tobytes() for pair in zip(*trees, strict=True) for a, b in zip(*map(leaves, pair), strict=True)
    )


def leaves(tree):
    return flatten(tree).values()


@pytest.fixture(params=[".npz", ".safetensors"])
def path(request, tmp_path):
    if request.param == ".safetensors":
        pytest.importorskip("safetensors")
    return tmp_path / f"run{request.param}"


# Steps


def test_training_lowers_the_loss_and_says_how_it_goes():
    run, seen = steps(tiny(), 60)
    assert [progress.step for progress in seen] == list(range(1, 61)) and run.state.step == 60
    assert max(progress.loss for progress in seen[-5:]) < min(progress.loss for progress in seen[:5])
    assert [progress.rate for progress in seen] == [
        0.75 * optimizer.learning_rate(8, 20, step) for step in range(1, 61)
    ]
    assert all(progress.norm > 0 and progress.tokens >= 12 for progress in seen)


def test_a_seed_determines_a_run():
    one, two, other = (steps(tiny(replace(TINY, seed=seed), dropout=0.25), 3)[0] for seed in (3, 3, 4))
    assert same(one, two) and not same(one, other)


def test_what_is_held_out_is_never_trained_on(monkeypatch):
    run, drawn = tiny(), []

    def watched(run, numbers, original=training.gradient_of):
        drawn.extend(numbers.tolist())
        return original(run, numbers)

    monkeypatch.setattr(training, "gradient_of", watched)
    run, _ = steps(run, 20)
    assert len(drawn) == 120 and not set(drawn) & set(run.split.held_out.tolist())


def test_the_gradient_is_clipped_to_the_norm(monkeypatch):
    """And with the norm of None it is not."""
    norms = []

    def watched(params, gradients, *rest, original=optimizer.update):
        norms.append(optimizer.global_norm(gradients))
        return original(params, gradients, *rest)

    monkeypatch.setattr(optimizer, "update", watched)
    for clip in (0.125, None):
        _, (progress,) = steps(tiny(replace(TINY, clip=clip)), 1)
        assert progress.norm > 1
    # of float32 gradients: one rounding of the factor and one of each product; the norms in float64
    assert norms[0] <= 0.125 * (1 + 2.0**-22) and norms[1] == progress.norm


def test_micro_batches_have_the_gradient_of_the_whole_batch():
    run = tiny()
    run = run._replace(params=map_leaves(to_balls, run.params))
    numbers = np.array([7, 111, 20, 999, 345, 10])  # names of different lengths
    with precision(160):
        gradients, loss, tokens = gradient_of(run, numbers)
        for parts in (2, 6):
            cut = run._replace(settings=replace(TINY, micro_batches=parts))
            others, other_loss, other_tokens = gradient_of(cut, numbers)
            assert other_tokens == tokens and (other_loss - loss).contains(0)
            for one, other in zip(leaves(gradients), leaves(others), strict=True):
                assert all(ball.contains(0) and float(ball.rad()) < 1e-25 for ball in (one - other).flat)


def test_a_mean_of_means_would_be_seen(monkeypatch):
    run = tiny()
    run = run._replace(params=map_leaves(to_balls, run.params), settings=replace(TINY, micro_batches=2))
    monkeypatch.setattr(
        optimizer, "accumulate", lambda g, tokens, before, right=optimizer.accumulate: right(g, 1, before)
    )
    numbers = np.array([7, 111, 20, 999, 345, 10])
    with precision(160):
        wrong, _, _ = gradient_of(run, numbers)
        right, _, _ = gradient_of(run._replace(settings=TINY), numbers)
        assert not all(
            ball.contains(0) for a, b in zip(leaves(wrong), leaves(right), strict=True) for ball in (a - b).flat
        )


def test_an_infinite_gradient_stops_before_anything_is_changed():
    run, _ = steps(tiny(), 2)
    next(iter(leaves(run.params)))[spelling.encode("1", run.words)[0], 0] = np.inf
    before = [array.copy() for array in leaves(run.state.m)]
    with (
        np.errstate(all="ignore"),
        pytest.raises(FloatingPointError, match=r"the parameters are as before\. Lower the"),
    ):
        steps(run, 1)
    assert all(np.array_equal(*pair) for pair in zip(leaves(run.state.m), before, strict=True))


# Saved runs


def test_a_resumed_run_takes_the_same_steps(path):
    """With dropout, whose generator is saved as well."""
    run, _ = steps(tiny(dropout=0.25), 2)
    save(path, run)
    expected, after = steps(run, 3)
    resumed = resume(path)
    assert resumed.config == run.config and resumed.settings == run.settings and resumed.words == run.words
    assert np.array_equal(resumed.split.held_out, run.split.held_out)
    found, again = steps(resumed, 3)
    assert same(found, expected) and again == after


@pytest.mark.parametrize("name", ["numbers", "dropout", "state", "params"])
def test_a_run_resumed_without_one_of_its_parts_would_be_seen(name, path):
    run, _ = steps(tiny(dropout=0.25), 2)
    save(path, run)
    expected, _ = steps(run, 3)
    fresh = tiny(dropout=0.25)
    part = fresh.state._replace(step=2) if name == "state" else getattr(fresh, name)
    assert not same(steps(resume(path)._replace(**{name: part}), 3)[0], expected)


def test_a_checkpoint_of_something_else_is_refused(path):
    checkpoint.save(path, {"params": np.ones(1)}, {})
    with pytest.raises(
        CheckpointError, match=r"is a checkpoint, but not of a run \(KeyError: 'config'\); needed one that"
    ):
        resume(path)
    save(path, tiny())
    tree, settings = checkpoint.load(path)
    for changes, message in [
        ({"config": settings["config"] | {"d_ff": 7}}, "has shape .* needed"),
        ({"config": settings["config"] | {"width": 7}}, "TypeError"),
        ({"training": settings["training"] | {"rows": 0}}, "rows is 0"),
        ({"tokens": settings["tokens"][:-1]}, "27 tokens for a vocabulary of 28"),
        ({"numbers": {"bit_generator": "MT19937"}}, "not of a run"),
    ]:
        checkpoint.save(path, tree, settings | changes)
        with pytest.raises(CheckpointError, match=message):
            resume(path)


# Scores


@pytest.fixture(scope="module")
def trained():
    """A run that gets some of the numbers below 100 right."""
    settings = Settings("ko", rows=16, warmup=20, factor=1.0, limit=100, held_out=1, clip=None)
    return steps(begin(config_for("ko", d_model=16, d_ff=32, n_heads=2, n_layers=1), settings), 60)[0]


def test_a_name_is_right_when_greedy_decoding_gives_it(trained):
    numbers = np.arange(0, 100, 3)
    found = score(trained, numbers)
    assert found.right.tolist() == [
        name == spelling.spell(n, "ko") for n, name in zip(numbers, names(trained, numbers), strict=True)
    ]
    assert 0 < found.right.mean() < 1


def test_no_name_is_too_long_to_be_decoded():
    """Its two parts (test_spelling.py) have at most so many tokens together, and eos."""
    for language, group in (("en", 1000), ("ko", 10_000)):
        words = spelling.vocabulary(language)
        parts = (range(0, 10**6, group), range(group, 2 * group))
        assert (
            sum(max(len(spelling.encode(spelling.spell(n, language), words)) for n in part) for part in parts) < LONGEST
        )


def told(right):
    """`model.logits` for a model that is sure of the tokens, and right about those where `right(rows, columns)`."""

    def logits(params, src, tgt_in, config):
        rows, columns = np.indices(tgt_in.shape)
        following = np.concatenate([tgt_in[:, 1:], np.full((len(tgt_in), 1), EOS)], 1)
        following[(tgt_in != PAD) & (following == PAD)] = EOS
        chosen = np.where(right(rows, columns), following, BOS)
        return np.where(np.arange(config.vocabulary) == chosen[..., None], 200.0, 0.0)

    return logits


@pytest.mark.parametrize(
    ("right", "names", "wrong"),
    [
        (lambda rows, columns: rows > -1, [True, True, True], 0),
        (lambda rows, columns: (rows != 1) | (columns != 0), [True, False, True], 1),
        (lambda rows, columns: (rows != 0) | (columns != 1), [False, True, True], 1),  # its eos
        (lambda rows, columns: (rows != 0) | (columns < 2), [True, True, True], 0),  # padding does not count
        (lambda rows, columns: columns < 0, [False, False, False], 11),
    ],
)
def test_every_token_of_a_name_counts_and_no_padding(right, names, wrong, monkeypatch):
    """칠, 삼백사십오, 이십 have 2, 6 and 3 tokens with eos. A wrong one costs log(e^200 + 27), which is 200 in float64."""
    monkeypatch.setattr(model, "logits", told(right))
    found = score(tiny(), np.array([7, 345, 20]))
    assert (found.right.tolist(), found.tokens, found.loss) == (names, (11 - wrong) / 11, 200.0 * wrong / 11)


def test_padding_is_never_chosen_as_in_decoding(monkeypatch):
    sure = told(lambda rows, columns: rows != 1)
    monkeypatch.setattr(model, "logits", lambda *given: np.where(np.arange(28) == PAD, 300.0, sure(*given)))
    assert score(tiny(), np.array([7, 345, 20])).right.tolist() == [True, False, True]


def test_the_score_does_not_depend_on_how_numbers_are_put_together(trained, monkeypatch):
    numbers = np.arange(0, 100, 3)
    whole = score(trained, numbers)
    monkeypatch.setattr(training, "SCORED_AT_ONCE", 4)
    parts = score(trained, numbers)
    assert whole.right.tolist() == parts.right.tolist() and whole.tokens == parts.tokens


# Errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Settings(rows=0), ValueError, "training: rows is 0, needed an integer of at least 1"),
        (lambda: Settings(warmup=1.5), TypeError, "warmup is 1.5, needed an integer"),
        (lambda: Settings(rows=4, micro_batches=5), ValueError, "micro_batches is 5, needed at most rows, 4"),
        (lambda: Settings(clip=0.0), ValueError, "clip is 0.0, needed a finite number above 0, or None"),
        (lambda: Settings(factor=math.nan), ValueError, "factor is nan, needed a finite number above 0"),
        (lambda: Settings(clip=math.inf), ValueError, "clip is inf"),
        (lambda: Settings(seed=-1), ValueError, "seed is -1, needed an integer of at least 0"),
        (lambda: config_for("fr"), ValueError, "language is 'fr', needed one of en, ko"),
        (
            lambda: begin(config_for("en"), TINY),
            ValueError,
            "vocabulary 73 and pad 0, needed .*, 28 and 0 for language 'ko'",
        ),
        (lambda: begin(replace(config_for("ko"), form="encoder"), TINY), ValueError, "config has form 'encoder'"),
        (lambda: tiny(replace(TINY, held_out=2000)), ValueError, "held_out is 2000, needed at most 49"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.slow
def test_a_model_learns_to_spell_numbers_that_it_never_saw():
    """The default run of `python -m numeric train`, from scratch."""
    run, _ = steps(begin(config_for("en"), Settings("en")), 1000)
    held_out = run.split.held_out
    assert len(held_out) == len(set(held_out.tolist())) == 2000 and held_out.max() < 10**6
    drawn = spelling.draw(np.random.default_rng(0), 10_000, run.split)
    assert not set(drawn.tolist()) & set(held_out.tolist())
    right = [
        name == spelling.spell(int(number), "en") for number, name in zip(held_out, names(run, held_out), strict=True)
    ]
    assert np.mean(right) >= 0.98
