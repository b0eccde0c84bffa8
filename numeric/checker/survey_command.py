"""`python -m numeric check torch`: the ready-made subjects of a library, and what did not pass among them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .presenting import only_reports_on_stdout, write
from .progress import progress
from .subjects import group_named, group_names
from .survey import Surveyed, surveyed
from .usage import UsageError, unknown
from .verdict import worst


def require_group(target: str, given: Sequence[Any]) -> None:
    """Raises UsageError unless the target is a library with ready-made subjects, and nothing is given that is of one subject only."""
    if ":" in target:
        raise UsageError(
            f"{target} needs a contract to be judged by: --as CONTRACT; python -m numeric contracts lists them"
        )
    if target not in group_names():
        raise unknown("group of subjects", target, group_names())
    if any(given):
        raise UsageError(
            f"check {target} judges all its subjects, each with its own options: needed no --backward, --adapter, --option, "
            "--accept or --probe beside --dtype, --precision and --seed"
        )


def survey_command(
    library: str, dtype: str, precision: str | None, seed: int, as_json: bool, junit: Path | None, html: Path | None
) -> int:
    """A line for each subject as it ends, and then the diagnoses; returns the exit code of the worst verdict. Raises UsageError."""
    subjects = group_named(library)
    done: list[Surveyed] = []
    with only_reports_on_stdout() as out:
        for subject in progress(subjects, len(subjects), "subjects"):
            done.append(surveyed(library, subject, dtype, precision, seed))
            if not as_json:
                out.write(f"{done[-1].line}\n")
                out.flush()
        if as_json:
            out.write(json.dumps([each.as_dict() for each in done], indent=2, allow_nan=False) + "\n")
        else:
            out.write(f"\nverdict: {worst(each.verdict for each in done)}\n")
            out.writelines(f"\n{each.report.diagnosis()}\n" for each in done if each.report and each.report.not_passed)
    write([each.report for each in done if each.report], junit, html)
    return worst(each.verdict for each in done).exit_code
