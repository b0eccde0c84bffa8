"""Checks the backward pass of every layer, and of whole models, against its forward pass in three ways: by power
series of balls, by central differences and by complex steps. Each has a bound that is derived: exact.py,
differences.py, complex_step.py.

    from numeric.gradients import check_gradients

    report = check_gradients("layer_norm or softmax")
    assert report.exit_code == 0, report.to_json()
"""

from .case import Case
from .report import CaseReport, Report
from .run import all_cases, check_gradients, checked
from .selection import UsageError

__all__ = ["Case", "CaseReport", "Report", "UsageError", "all_cases", "check_gradients", "checked"]
