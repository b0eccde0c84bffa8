from itertools import combinations, product

from numeric.checker.pairing import pairwise


def settings_of(**values):
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def pairs_of(settings):
    return {
        pair
        for each in settings
        for pair in combinations(sorted((name, repr(value)) for name, value in each.items()), 2)
    }


def test_every_pair_of_values_meets_in_far_fewer_settings():
    every = settings_of(heads=(1, 2, 4), groups=(None, 1, 2), mask=(None, "random", "padding"), causal=(False, True))
    chosen = pairwise(every)
    assert pairs_of(chosen) == pairs_of(every)
    assert 9 <= len(chosen) <= 14 and len(every) == 54
    assert all(each in every for each in chosen)


def test_pairs_that_no_setting_has_are_not_asked_for():
    every = [each for each in settings_of(heads=(1, 2, 4), groups=(None, 1, 2)) if each["groups"] != each["heads"]]
    assert pairwise(every) == every


def test_values_that_are_equal_but_not_the_same_are_told_apart():
    assert len(pairwise(settings_of(a=(1, 1.0, True), b=(0,)))) == 3


def test_one_option_or_none_leaves_all_settings():
    assert pairwise(settings_of(a=(1, 2, 3))) == settings_of(a=(1, 2, 3))
    assert pairwise([{}]) == [{}]
