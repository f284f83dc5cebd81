"""Tables on terminals of any width."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console
from rich.markup import escape

from boundcheck.reports.terminal.columns import Entry, show
from boundcheck.reports.terminal.console import make_console

LONG = "gappletron:loss=logistic-K,rule=printed,optimiser=stand-still,gamma=2"
ENTRIES = [
    Entry(
        {"claim": "gappletron/lemma-1", "verdict": "[red]refuted[/] SURPRISE", "expected": "holds"}
        | {"ratio": "3.82", "regret": "-", "headroom": "1.25", "runs": "172"},
        f"[dim]35 refuted, 77 holds;[/] first bad: round 1; {LONG} | full",
    ),
    Entry(
        {"claim": "label-efficient-perceptron/mistake-bound", "verdict": "holds", "expected": "-"}
        | {"ratio": "1", "regret": "0.5", "headroom": "-", "runs": "1"},
        "first line\nsecond line",
    ),
]


def printed(width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    show(console, ENTRIES)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 100, 120, 200])
def test_every_word_is_there_and_whole(width: int) -> None:
    words = " ".join(printed(width)).split()
    for word in ("SURPRISE", "3.82", "1.25", "172", "0.5", "35", "1;", LONG, "second"):
        assert word in words or f"{word};" in words, word


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_lines_fit(width: int) -> None:
    assert max(map(len, printed(width))) <= width


def test_columns_that_do_not_fit_go_to_the_words_below() -> None:
    wide, narrow = printed(120), printed(80)
    assert wide[0].split() == list(ENTRIES[0].cells)
    assert "headroom" not in narrow[0]
    assert narrow[2].startswith("    headroom 1.25; ")
    assert "    second line" in wide


@pytest.mark.parametrize("said", ["x\ny\n" * 50, "a [/b] [red] :bug: c\\", "tab\tand\r\x0b more"])
def test_words_of_others_are_no_markup(said: str) -> None:
    console = make_console(False)
    console.file = io.StringIO()
    show(console, [Entry({"claim": "mine"}, f"[dim]{escape(said)}[/]; [red]end[/]")])
    words = console.file.getvalue().split()
    assert words == ["claim", "mine", *f"{said}; end".split()]


def test_a_pipe_is_120_columns_wide_or_as_columns_says() -> None:
    code = "from boundcheck.reports.terminal.console import make_console; print(make_console(False).width)"
    for columns, width in ((None, "120"), ("63", "63"), ("0", "120")):
        environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
        environment |= {} if columns is None else {"COLUMNS": columns}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.stdout.strip() == width, done.stderr
