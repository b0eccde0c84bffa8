from numeric.training_plot import SMOOTHED_OVER, running_mean


def test_a_running_mean_is_over_the_steps_so_far_and_then_over_the_last_ones():
    assert running_mean([1, 2, 6]) == [1, 1.5, 3]
    ramp = list(range(2 * SMOOTHED_OVER))
    assert running_mean(ramp)[-1] == sum(ramp[SMOOTHED_OVER:]) / SMOOTHED_OVER
    assert running_mean([]) == []
