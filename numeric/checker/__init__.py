"""Judges foreign implementations of pieces of the Transformer: is it right, to rounding?

    from numeric.checker import check

    report = check("softmax", my_softmax, backward=my_softmax_backward)
    print(report)
    report.raise_if_failed()

The reference is exact (Arb balls), the tolerance is a bound on rounding (running error analysis), the probes are generic and
structured, and properties say what is broken. One test per check, in pytest:

    REPORT = check("softmax", my_softmax)

    @pytest.mark.parametrize("name", checks_of("softmax"))
    def test_softmax(name):
        REPORT.raise_if_failed(name)
"""

from .answers import check_answers
from .contract import Probe
from .contracts import contract_names
from .formats import Precision
from .report import CheckFailed, Finding, Report
from .run import check, checks_of
from .sweep import check_many
from .usage import UsageError
from .verdict import Verdict

__all__ = [
    "CheckFailed",
    "Finding",
    "Precision",
    "Probe",
    "Report",
    "UsageError",
    "Verdict",
    "check",
    "check_answers",
    "check_many",
    "checks_of",
    "contract_names",
]
