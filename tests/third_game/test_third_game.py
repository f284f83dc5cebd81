"""A game that only a user's file knows is found, played, judged, drawn and replayed like the games of the package."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tampering import tampered
from without_numba import command_without_numba

from boundcheck import UserError, verify_claims
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.outcome import digest_of
from boundcheck.verify.suite.results import load

FILE = Path(__file__).with_name("guessing.py")
ROOT = Path(__file__).parents[2]

CATALOGUE = """
import json, sys
from pathlib import Path
from boundcheck.verify import catalog
before = "guessing" in catalog.games() or "waves" in catalog.adversaries()
catalog.add_file(Path(sys.argv[1]))
game = catalog.game_of(catalog.learner("running-mean"))
told = [before, game.name, catalog.learner("random").spec, catalog.adversary("waves").spec]
print(json.dumps([*told, [claim.id for claim in catalog.select(["guessing/*"])]]))
"""

FALSE_CLAIMS = f"""
import sys
sys.path.insert(0, {str(FILE.parent)!r})
from guessing import *

def refuted(name, judge, cases):
    form = bc.Form("printed", "a = b", bc.Proof.FALSE, "a joke", expected=lambda case: bc.Verdict.REFUTED)
    return bc.Claim(f"guessing/{{name}}", "a joke", FOLKLORE, (form,), judge, cases, Case.game_name)

def no_loss(case, form, rounds):
    loss = rounds.column("loss")
    return bc.Sides(loss, 0 * loss, 0 * loss + 1e-9)

def small(case, form, totals):
    sides = mean_sides(case, form, totals)
    (bound,) = sides.bounds
    seventh = bc.Bound(bound.values / 7, bound.ceiling / 7)
    return bc.MeanSides(
        sides.observed, (seventh,), sides.base, sides.least / 7, sides.most, sides.guess, "it always is"
    )

PLAYED = refuted("no-loss", bc.Pathwise(no_loss), REGRET.cases)
SAMPLED = refuted("small-loss", bc.Mean(small), LOSS.cases)
"""
"""Claims without exact instances, whose certificates are the game and its runs."""


@pytest.fixture
def known() -> Iterator[None]:
    """The file is known in this process, until the end of the test."""
    catalog.games(), catalog.claims()
    catalog.add_file(FILE)
    yield
    forget()


def forget() -> None:
    """What there is, is what the package has."""
    catalog.games.cache_clear()
    catalog.claims.cache_clear()


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which both claims were verified and drawn in processes of their own, and what was printed."""
    folder = tmp_path_factory.mktemp("guessing")
    printed = ""
    for command in (["verify", "guessing/*"], ["report"]):
        done = subprocess.run(
            [sys.executable, "-m", "boundcheck", *command, "--claims", str(FILE)],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        printed += done.stdout
    return folder, printed


@pytest.fixture(scope="module")
def certificates(
    verified: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A certificate of each kind, by the kind."""
    folder = tmp_path_factory.mktemp("false")
    file = folder / "false_claims.py"
    file.write_text(FALSE_CLAIMS, encoding="utf-8")
    found = verify_claims(["guessing/no-loss", "guessing/small-loss"], claims_file=file)
    assert found.surprises == []
    found.save(folder)
    forget()
    paths = [*folder.glob("certificates/*.json"), *verified[0].rglob("certificates/*.json")]
    return {json.loads(path.read_text(encoding="utf-8"))["kind"]: path for path in paths}


def test_it_is_short() -> None:
    assert len(FILE.read_bytes().splitlines()) <= 150


def test_it_is_found_beside_the_others() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", CATALOGUE, str(FILE)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    ids = ["guessing/regret", "guessing/loss"]
    assert json.loads(done.stdout) == [False, "guessing", "random", "waves", ids]


def test_it_is_played_and_judged(verified: tuple[Path, str]) -> None:
    folder, printed = verified
    lines = [line.split()[:3] for line in printed.splitlines() if line.startswith("guessing/")]
    assert lines == [
        ["guessing/loss", "printed", "holds"],
        ["guessing/regret", "printed", "refuted"],
        ["guessing/regret", "repaired", "holds"],
    ]
    assert " 0 surprises" in printed
    rows = load(folder / "boundcheck-report").document["results"]
    assert [row["kind"] for row in rows] == ["pathwise", "pathwise", "mean"]
    assert [(row["runs"], row["rounds"]) for row in rows] == [(1, 50), (1, 50), (64, 12_800)]
    assert rows[2]["case"] == "random | waves | full | T=200"


def test_it_is_drawn(verified: tuple[Path, str]) -> None:
    """Both sides of every form over the rounds, and its statement."""
    folder, _ = verified
    curves = load(folder / "boundcheck-report").curves
    assert set(zip(curves["claim"], curves["form"], strict=True)) == {
        ("guessing/loss", "printed"),
        ("guessing/regret", "printed"),
        ("guessing/regret", "repaired"),
    }
    page = (folder / "boundcheck-report" / "index.html").read_text(encoding="utf-8")
    sections = dict(re.findall(r'<section class="claim" id="([\w-]+)">(.*?)</section>', page, re.S))
    assert sections.keys() == {"guessing-loss", "guessing-regret"}
    for name, forms in (("guessing-loss", 1), ("guessing-regret", 2)):
        curves_drawn = re.findall(
            r'aria-label="both sides over the rounds[^"]*"><svg.*?</svg>', sections[name], re.S
        )
        assert len(curves_drawn) == forms
        for picture in curves_drawn:  # the observed side and a dashed envelope
            assert len(re.findall(r'<path d="M[^"]*L', picture)) >= 2
            assert "stroke-dasharray" in picture
        statements = re.findall(r'<div class="statement".*?<svg.*?</svg>', sections[name], re.S)
        assert len(statements) == forms


def test_its_exact_certificate_replays_without_numba(verified: tuple[Path, str]) -> None:
    folder, _ = verified
    (path,) = (folder / "boundcheck-report" / "certificates").iterdir()
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["instance"] == {"number": ["1/2", "3/4", "3/4", "1/2", "1/4"]}
    done = command_without_numba("replay", "--claims", str(FILE), str(path), folder=folder)
    assert done.returncode == 0, done.stderr
    assert "accepted" in done.stdout
    assert "0.07152777778" in done.stdout
    alone = command_without_numba("replay", str(path), folder=folder)
    assert alone.returncode == 2
    assert "--claims FILE" in alone.stderr


@pytest.mark.parametrize(("kind", "stride"), [("exact", 1), ("played", 1), ("statistical", 29)])
def test_every_altered_number_is_rejected(
    kind: str, stride: int, certificates: dict[str, Path], tmp_path: Path
) -> None:
    """Also where the digest is made to fit; of the many numbers of runs a sample will do."""
    assert certificates.keys() == {"exact", "played", "statistical"}
    catalog.add_file(FILE if kind == "exact" else certificates[kind].parents[1] / "false_claims.py")
    content: dict[str, Any] = json.loads(certificates[kind].read_text(encoding="utf-8"))
    digest = content.pop("digest")
    file = tmp_path / "tampered.json"
    accepted, tried = [], 0
    for i, change in enumerate(tampered(content, lambda new: None)):
        if i % stride:
            continue
        file.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        tried += 1
        with contextlib.suppress(UserError):
            replay(file)
            accepted.append(change)
    file.write_text(json.dumps(content | {"digest": digest}), encoding="utf-8")
    found = replay(file)  # everything was put back
    forget()
    assert accepted == []
    assert tried > 15
    assert found.claim.id.startswith("guessing/")


HALF = """
class Half:
    spec = "half"
    promises = ("guessing/loss",)

    def guess(self, past, dice):
        return 0.5
"""


@pytest.mark.usefixtures("known")
def test_classes_of_a_user_play_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("half.py").write_text(HALF, encoding="utf-8")
    found = verify_claims(learner="half.py:Half", quick=True)
    rows = {row.claim: row for row in found.rows if row.verdict.value != "not applicable"}
    assert rows == {}, "both claims are about learners of the file"
    assert list(found.untested) == ["guessing/loss"]
    cases = {row.case for row in found.rows}
    assert cases == {"half.py:Half | waves | full | T=300"}
    found = verify_claims("guessing/*", learner="running-mean", rounds=40)
    assert {
        row.form: row.verdict.value for row in found.rows if row.claim == "guessing/regret"
    } == {
        "printed": "refuted",
        "repaired": "holds",
    }
    assert found.surprises == [], "what is false as printed is not promised"
    assert {
        row.learner for row in verify_claims("guessing/*", adversary="waves", quick=True).rows
    } == {
        "running-mean",
        "random",
    }


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"learner": "running-mean", "radius": 2}, "--radius is given for the game guessing"),
        ({"learner": "running-mean", "adversary": "one-hot"}, "one-hot plays another game than"),
        ({"learner": "runing-mean"}, "did you mean 'running-mean'"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        verify_claims("guessing/*", quick=True, **given)


def test_nothing_else_knows_it() -> None:
    """No file of the repository but the folder, and words about it."""
    pattern = r"guessing/|guessing\.py|[\"']guessing[\"']|class Guessing"
    done = subprocess.run(
        ["git", "grep", "-l", "--untracked", "-E", pattern],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode == 128:
        pytest.skip("not a git checkout")
    names = done.stdout.split()
    assert f"tests/third_game/{FILE.name}" in names
    assert [
        n for n in names if not n.startswith("tests/third_game/") and not n.endswith(".md")
    ] == []
