"""The README's first command at half size: every claim is put to the test, and nothing comes as a surprise."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boundcheck.verify import catalog
from boundcheck.verify.claim import Proof
from boundcheck.verify.outcome import Verdict

README = Path(__file__).parent.parent / "README.md"

SAYS_NOTHING = ("boosting/ada-bandit-tuned",)
"""Bounds that exceed the rounds of any game that can be played."""

MOST_SAY_NOTHING = 5
"""Forms that may be vacuous wherever the suite plays them."""

FORMS = [(claim.id, form.name) for claim in catalog.claims().values() for form in claim.forms]


@dataclass(frozen=True)
class Done:
    """The exit status, what was printed, and the rows of the results."""

    status: int
    printed: str
    rows: list[dict[str, Any]]


@pytest.fixture(scope="module")
def main_job(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("main")
    command = [sys.executable, "-m", "boundcheck", "verify", "--quick", "--seed", "1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    results = folder / "boundcheck-report" / "verdicts.json"
    return Done(
        done.returncode, done.stdout + done.stderr, json.loads(results.read_text())["results"]
    )


def test_it_is_the_first_command_of_the_readme() -> None:
    first = README.read_text(encoding="utf-8").split("```bash\n")[1]
    assert first.split("\n```")[0].rpartition("&& ")[2] == ".venv/bin/boundcheck verify"


def test_nothing_is_a_surprise_and_every_claim_is_in_the_table(main_job: Done) -> None:
    assert main_job.status == 0, main_job.printed
    assert " 0 surprises" in main_job.printed
    lines = {tuple(line.split()[:2]) for line in main_job.printed.splitlines()}
    assert set(FORMS) <= lines


@pytest.mark.parametrize(("name", "form_name"), FORMS)
def test_every_form_is_put_to_the_test(name: str, form_name: str, main_job: Done) -> None:
    """Somewhere what is false is refuted, with a certificate, and what is true holds; what is expected to say nothing
    anywhere says so."""
    own = [row for row in main_job.rows if (row["claim"], row["form"]) == (name, form_name)]
    verdicts = {row["verdict"] for row in own}
    if name in SAYS_NOTHING:
        assert verdicts == {Verdict.VACUOUS}
        return
    false = catalog.claims()[name].form(form_name).proof == Proof.FALSE
    assert (Verdict.REFUTED if false else Verdict.HOLDS) in verdicts
    for row in own:
        assert (row["certificate"] is not None) == (row["verdict"] == Verdict.REFUTED)


def test_few_forms_say_nothing_anywhere(main_job: Done) -> None:
    seen = defaultdict(set)
    for row in main_job.rows:
        seen[row["claim"], row["form"]].add(row["verdict"])
    idle = [form for form, verdicts in seen.items() if verdicts == {Verdict.VACUOUS}]
    assert {name for name, _ in idle} == set(SAYS_NOTHING)
    assert len(idle) <= MOST_SAY_NOTHING, idle
