import numpy as np

from numeric.checker.memo import Latest, Memo, fingerprint


def test_remembers_until_it_is_full():
    memo, made = Memo(byte_limit=10), []

    def recall(key, size=4, good=True):
        return memo.recall(key, lambda: made.append(key) or key, lambda _: size, lambda _: good)

    assert [recall("a"), recall("b"), recall("a")] == ["a", "b", "a"]
    assert made == ["a", "b"]
    recall("c")  # 12 bytes: the oldest goes
    recall("a")
    assert made == ["a", "b", "c", "a"]


def test_makes_again_what_is_not_good_enough():
    memo, made = Memo(100), []
    memo.recall("a", lambda: made.append(1), lambda _: 1, lambda _: True)
    memo.recall("a", lambda: made.append(2), lambda _: 1, lambda _: False)
    assert made == [1, 2]


def test_a_result_larger_than_the_memo_is_still_returned():
    assert Memo(1).recall("a", lambda: "large", lambda _: 100, lambda _: True) == "large"


def test_the_latest_is_kept_for_equal_keys_only():
    latest, made = Latest(), []

    def recall(*key):
        return latest.recall(key, lambda: made.append(key) or len(made))

    x = np.arange(6.0)
    assert [recall(x, 1), recall(x.copy(), 1), recall(x, 2), recall(x, 2)] == [1, 1, 2, 2]
    x[3] = 7  # the same array, another value
    assert [recall(x, 2), recall(np.arange(6.0), 2)] == [3, 4]


def test_fingerprints_differ_with_values_shape_and_dtype():
    x = np.arange(6.0)
    variants = [(x,), (x + 1,), (x.reshape(2, 3),), (x.astype(np.float32),), (x, 1.0), (x, 1), (x, "1")]
    assert len({fingerprint(each) for each in variants}) == len(variants)
    assert fingerprint((x,)) == fingerprint((np.arange(12.0)[::2] / 2,))


def test_fingerprints_see_every_number_of_arrays_inside_tuples():
    masks = [np.ones((60, 60), bool) for _ in range(2)]
    masks[1][30, 30] = False  # where NumPy's repr shows dots
    first, second = (fingerprint([("mask", mask), ("causal", False)]) for mask in masks)
    assert first != second
    assert first == fingerprint([("mask", masks[0].copy()), ("causal", False)])
    assert fingerprint([("a", 1.0), 2.0]) != fingerprint([("a",), 1.0, 2.0])
