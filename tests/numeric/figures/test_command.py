"""python -m numeric figures: files, exit codes, JSON, messages for wrong use."""

import json
import os
import sys

import pytest
from typer.testing import CliRunner

from numeric.__main__ import app
from numeric.figures.collection import names


def run(*arguments):
    return CliRunner().invoke(app, ["figures", *map(str, arguments)])


def test_files_are_written_and_told_of(tmp_path):
    result = run("attention_masks", "--out", tmp_path / "new" / "folder")
    assert result.exit_code == 0 and result.stderr == ""
    folder = tmp_path / "new" / "folder"
    assert {each.name for each in folder.iterdir()} == {"attention_masks.svg", "figures.json", "mistakes.json"}
    lines = result.output.splitlines()
    assert lines[0].startswith(f"{folder / 'attention_masks.svg'} (") and lines[0].endswith(" kB)")
    assert lines[1] == "  masking.zero_weight_on_masked"
    assert lines[-1].startswith(f"{folder / 'figures.json'}: 1 figures; {folder / 'mistakes.json'}: ")


def test_json_is_the_index(tmp_path):
    result = run("position_similarity", "attention_masks", "--out", tmp_path, "--json", "--lang", "ko", "--seed", 2)
    assert result.exit_code == 0
    data = json.loads(result.output)
    assert data == json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert (data["language"], data["seed"]) == ("ko", 2)
    assert [each["name"] for each in data["figures"]] == ["position_similarity", "attention_masks"]
    assert "위치" in data["figures"][0]["title"]["text"]


def test_a_second_run_writes_over_the_first(tmp_path):
    assert run("attention_masks", "--out", tmp_path).exit_code == 0
    before = (tmp_path / "attention_masks.svg").read_bytes()
    (tmp_path / "attention_masks.svg").write_text("old")
    assert run("attention_masks", "--out", tmp_path).exit_code == 0
    assert (tmp_path / "attention_masks.svg").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("attention_mask", "--out", "x"), "error: unknown figure 'attention_mask'; did you mean 'attention_masks'?"),
        (("--out", "x", "--lang", "kr"), "error: unknown language 'kr'. Known: en, ko."),
        ((), "error: --out is missing, needed a folder for the files: --out figures"),
        (("--out", "file"), "error: --out is file, which is a file, needed a folder; name another"),
        (("--out", "file/below"), "error: --out is file/below, which cannot be made (Not a directory)"),
        (("--out", "x", "--seed", -1), "Invalid value for '--seed'"),
    ],
)
def test_wrong_use_exits_2_writes_nothing_and_is_told(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output + result.stderr
    assert "Traceback" not in result.output + result.stderr
    assert not list((tmp_path / "x").glob("*"))


def test_a_folder_where_nothing_may_be_written_is_wrong_use(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    result = run("--out", tmp_path)
    assert result.exit_code == 2
    assert f"error: --out is {tmp_path}, where nothing may be written" in result.stderr


def test_a_file_that_cannot_be_written_exits_1(tmp_path):
    (tmp_path / "attention_masks.svg").mkdir()
    result = run("attention_masks", "--out", tmp_path)
    assert result.exit_code == 1
    assert f"error: cannot write {tmp_path / 'attention_masks.svg'}: Is a directory" in result.stderr


def test_the_help_names_the_figures():
    text = " ".join(run("--help").output.replace("│", " ").split())
    assert all(name in text for name in names())


def test_a_bar_is_shown_on_a_terminal_only(tmp_path, monkeypatch, capsys):
    from numeric.figures import command

    shown = []
    monkeypatch.setattr(command.Progress, "update", lambda self, task, **fields: shown.append(fields["description"]))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    command._with_progress(command.chosen(["attention_masks"]), "en", 0)
    assert shown == ["attention_masks"]
