"""What a person reads, to the letter."""

import numpy as np

from numeric.checker import Finding, Report, Verdict, check
from numeric.checker.table import rendered

VALUES = Finding("values", Verdict.PASS, "within rounding", None, {"probes": 3})
HELD = Finding("shift invariance", Verdict.PASS, "off by 0.25 allowances", "softmax.shift_invariance", {"ratio": 0.25})


def report_of(*findings, accepted=(), dtype="float32"):
    power = {"values": {"smallest_relative_error_seen": 1e-7, "would_have_passed": []}}
    return Report("softmax", "a.softmax", "numpy", dtype, f"{dtype} throughout", {}, 0, findings, power, accepted)


def test_a_whole_report():
    wrong = Finding(
        "values",
        Verdict.FAIL,
        "softmax.base_ten: it takes powers of ten.\n3 of 9 probes fail, just those with axis=0.\nWorst: index (0,).",
        "softmax.relative_form",
        mistake="softmax.base_ten",
    )
    left = [Finding(name, "not run", "no backward was given") for name in ("gradients", "gradient sums to 0")]
    assert rendered(report_of(wrong, HELD, *left)) == (
        "fail: a.softmax as softmax in float32: softmax.base_ten\n"
        "numpy, float32 throughout, seed 0\n"
        "\n"
        "not passed\n"
        "  values: fail\n"
        "    softmax.base_ten: it takes powers of ten.\n"
        "    breaks softmax.relative_form\n"
        "    3 of 9 probes fail, just those with axis=0.\n"
        "    Worst: index (0,).\n"
        "  to read one: python -m proofs show softmax.relative_form\n"
        "\n"
        "passed\n"
        "  properties, off by so many allowances: shift invariance (0.25)\n"
        "\n"
        "not run\n"
        "  gradients, gradient sums to 0: no backward was given\n"
        "\n"
        "test power\n"
        "  values  a relative error of 1e-07 everywhere would have been seen; zeros,\n"
        "          constants, noise would have failed\n"
    )


def test_lines_beyond_80_columns_hang():
    long = Finding("values", Verdict.FAIL, "word " * 40)
    lines = rendered(report_of(long)).splitlines()
    start = lines.index("  values: fail")
    assert lines[start + 1] == ("    " + "word " * 15).rstrip()
    assert lines[start + 2].startswith("      word")
    assert max(map(len, lines)) <= 80


def test_a_pass_with_a_note_is_told_whole():
    noted = Finding(
        "values", Verdict.PASS, "within rounding.\nAccuracy, not an error: half", mistake="softmax.unshifted"
    )
    text = rendered(report_of(noted, HELD))
    assert text.startswith("pass: a.softmax as softmax in float32\n")
    assert "passed, with a note\n  values: pass\n    within rounding.\n    Accuracy, not an error: half\n" in text
    assert "not passed" not in text


def test_an_accepted_variant_says_so_in_the_first_line():
    variant = Finding("values", Verdict.VARIANT, "base two", mistake="softmax.base_two")
    assert rendered(report_of(variant, accepted=("softmax.base_two",))).startswith(
        "pass: a.softmax as softmax in float32, softmax.base_two accepted\n"
    )
    assert rendered(report_of(variant)).startswith("variant: a.softmax as softmax in float32: softmax.base_two\n")


def test_without_a_name_the_checks_are_named():
    bad = Finding("values", Verdict.FAIL, "no known mistake.")
    assert rendered(report_of(bad)).startswith("fail: a.softmax as softmax in float32, no known mistake: values\n")
    broken = Finding("calls", Verdict.ERROR, "it raised")
    assert rendered(report_of(broken)).startswith("error: a.softmax as softmax in float32, calls\n")


def test_a_failing_check_takes_few_lines():
    def wrong(z, axis=-1, temperature=1.0):
        p = np.exp(z * temperature - (z * temperature).max(axis, keepdims=True))
        return p / p.sum(axis, keepdims=True)

    report = check("softmax", wrong, probes=("generic*", "shift invariance"))
    values = str(report).split("not passed\n")[1].split("  to read one")[0]
    assert len(values.splitlines()) <= 8
    assert "24 of 36 probes fail, just those with temperature=0.5 or 3.0." in values
