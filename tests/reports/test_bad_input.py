"""Mistakes of the user's: one sentence on standard error, exit status 2, no traceback, nothing lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from boundcheck.errors import UserError
from boundcheck.reports.cli import main
from boundcheck.verify.outcome import digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite

GOOD = "a,b,label\n1,0,x\n0,1,y\n1,1,x\n0,0,y\n"

LEARNER = """
class Broken:
    {head}
    def __init__(self, problem):
        {make}
        self.n = problem.graph.n_actions
        self.rounds = 0

    def predict(self, x):
        self.rounds += 1
        good = [1 / self.n] * self.n
        return good if self.rounds < 4 else {bad}

    def update(self, x, action, label):
        {update}
"""


def learner(bad: str = "good", update: str = "pass", head: str = "", make: str = "") -> str:
    """A learner file whose fourth prediction is ``bad``."""
    return LEARNER.format(bad=bad, update=update, head=head, make=make)


def certificate(**fields: object) -> str:
    """A certificate with a digest that fits."""
    content = {"schema": 3, "kind": "exact", "claim": "gappletron/lemma-1", "form": "printed"}
    content |= {"statement": "", "source": ""} | fields
    return json.dumps(content | {"digest": digest_of(content)})


def run(*arguments: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    """Run the command line in ``folder`` and return the exit status."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["boundcheck", *arguments])
    return main()


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, by path."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A folder with input files, good and bad."""
    contents = {
        "good.csv": GOOD,
        "one_class.csv": "a,label\n1,x\n2,x\n",
        "nan.csv": "a,label\n1,x\nnan,y\n",
        "infinite.csv": "a,label\n1,x\ninf,y\n",
        "missing_label.csv": "a,label\n1,x\n2,\n",
        "header.csv": "a,label\n",
        "price.csv": "a,price\n" + "".join(f"{i % 3},{i / 4}\n" for i in range(21)),
        "text.csv": "a,label\n1,x\nmany,y\n",
        "ragged.csv": "a,b,label\n1,2,x\n1,x\n",
        "empty.csv": "",
        "two.csv": "1,0\n0,1\n",
        "four.edgelist": "a b\nb c\nc d\nd a\n",
        "blind.csv": "1,0,0\n0,0,0\n0,0,0\n",
        "no_import.py": "import nothing_of_that_name\n",
        "syntax.py": "def broken(:\n",
        "negative.py": learner("[2.0] + [-1.0 / (self.n - 1)] * (self.n - 1)"),
        "nans.py": learner("[float('nan')] * self.n"),
        "sum.py": learner("[0.5 / self.n] * self.n"),
        "shape.py": learner("[1.0]"),
        "raises.py": learner(update="raise RuntimeError('lost\\nfor good')"),
        "leaves.py": "raise SystemExit(0)\n",
        "leaves_later.py": learner(update="raise SystemExit(0)"),
        "closes_early.py": learner(make="raise GeneratorExit"),
        "closes_later.py": learner(update="raise GeneratorExit('x\\n[/y]' * 2000)"),
        "closes_first.py": "raise GeneratorExit\n",
        "leaves_early.py": learner(make="raise SystemExit(0)"),
        "delta.py": learner(head="delta = 1.5"),
        "loss_number.py": learner(head="loss = 5"),
        "loss_word.py": learner(head="loss = 'hinges'"),
        "rule_list.py": learner(head="rule = ['printed']"),
        "regression.csv": "a,b,target\n" + "".join(f"{i % 7},{i % 5},{i}.5\n" for i in range(60)),
        "tiny.csv": "a,b,label\n1e-90,0,x\n0,1e-90,y\n",
        "gap.svm": "0 1:1\n1 2000000000:1\n",
        "weights.py": learner(
            make="self.weights = [[0.0] * problem.n_features] * problem.n_labels",
            update="self.weights = [1.0]",
        ),
        "gamma.py": learner(head="gamma = -1.0"),
        "gamma_word.py": learner(head="gamma = 'ones'"),
        "promise.py": learner(head="promises = ('gapletron/lemma-1',)"),
        "promise_number.py": learner(head="promises = 5"),
        "promise_late.py": learner(make="self.promises = ('gappletron/lemma-1',)"),
        "no_predict.py": "class Broken:\n    def __init__(self, problem): pass\n",
        "not.json": "{",
        "other.json": json.dumps({"schema": 99}),
        "list.json": "[1, 2]",
        "deep.json": "[" * 100_000,
        "deeper.json": certificate().replace(
            '"kind"', '"x": ' + "[" * 30_000 + "]" * 30_000 + ', "kind"'
        ),
        "infinity.json": '{"schema": Infinity}',
        "bytes.json": "",
        "claim_list.json": certificate(claim=[1]),
        "no_instance.json": certificate(),
        "bare.json": json.dumps({"schema": 3, "kind": "exact"}),
        "file": "a file, not a folder",
        "no_claims.py": "x = 1\n",
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    np.savez(tmp_path / "labels.npz", X=np.eye(3), y=np.zeros(2))
    return tmp_path


LISTED = "expected ids, or globs of ids, that 'boundcheck list claims' shows."

CASES = [
    ("verify zzz", (f"unknown claim 'zzz': {LISTED}",)),
    (
        "verify boosting/bandit-wcl",
        (f"unknown claim 'boosting/bandit-wcl' (did you mean 'boosting/bandit-wlc'?): {LISTED}",),
    ),
    ("verify gappletron", ("unknown claim 'gappletron' (did you mean 'gappletron/*'?)",)),
    ("verify bosting/*", ("unknown claim 'bosting/*' (did you mean 'boosting/*'?)",)),
    ("verify --learner gapletron", ("gapletron", "did you mean 'gappletron'")),
    ("verify --learner gappletron:gama=1", ("gama", "did you mean 'gamma'")),
    ("verify --learner gappletron:loss=smooth", ("smooth", "did you mean 'smooth-hinge'")),
    ("verify --learner gappletron:rule=treshold", ("treshold", "did you mean 'threshold'")),
    ("verify --learner gappletron:optimiser=projeted", ("projeted", "did you mean 'projected'")),
    ("verify --learner gappletron:gamma=-1", ("gamma=-1", "at least 0")),
    ("verify --learner gappletron:gamma=nan", ("gamma=nan", "finite")),
    ("verify --learner gappletron:delta=2", ("delta=2", "(0, 1)")),
    ("verify --learner gappletron:delta=0", ("delta=0", "(0, 1)")),
    ("verify --learner gappletron:delta=1", ("delta=1", "(0, 1)")),
    ("verify --learner gappletron:delta=-0.5", ("delta=-0.5", "(0, 1)")),
    ("verify --learner gappletron:delta=nan", ("delta=nan", "(0, 1)")),
    ("verify --learner delta.py:Broken --quick", ("delta=1.5", "(0, 1)")),
    ("verify --learner gappletron:gamma", ("gamma", "key=value")),
    ("verify --learner segment-probe --graph bandit", ("'bandit'", "filtering:revealing=1")),
    ("verify --learner banditron:gama=0.1", ("gama", "did you mean 'gamma'")),
    ("verify --learner banditron:gamma=2", ("gamma=2.0", "a number in (0, 1]")),
    ("verify --learner banditron:tuning=theroy", ("theroy", "did you mean 'theory'")),
    ("verify --learner perceptron:gamma=1", ("gamma", "expected one of tuning")),
    ("verify --learner passive-aggressive:variant=pa-3", ("pa-3", "pa-1, pa-2")),
    ("verify --learner label-efficient-perceptron:smoothing=0", ("smoothing=0.0", "above 0")),
    ("verify --learner gaptron:loss=logistic-K", ("logistic-K", "logistic-2")),
    ("verify --learner gaptron:rate=x", ("rate=x", "a number")),
    ("verify --graph bandid", ("bandid", "did you mean 'bandit'")),
    ("verify --graph blind.csv --adversary one-hot", ("label 1, 2", "observed by some action")),
    ("verify --graph two.csv --adversary one-hot", ("2 entries", "expected 3", "one-hot has 3")),
    (
        "verify --graph four.edgelist --adversary one-hot",
        ("4 nodes", "expected 3", "one-hot has 3"),
    ),
    ("verify --graph filtering:revealing=7 --adversary one-hot", ("revealing=7", "[0, 2]")),
    (
        "verify --learner segment-probe --adversary one-hot --graph bandit",
        ("segment-probe", "'bandit' with 3 labels", "filtering:revealing=1 with two"),
    ),
    ("verify --learner leaping --adversary one-hot", ("at least 3 labels", "adversary concealed")),
    ("verify --adversary one-hot --radius 1", ("B=1", "one-hot has norm 1.41421", "at least")),
    ("verify --adversary segments:environment=2 --radius 2.2", ("B=2.2", "norm 2.23607")),
    ("verify --adversary one-hod", ("one-hod", "did you mean 'one-hot'")),
    ("verify --adversary one-hot:n_labels=1", ("n_labels", "2")),
    ("verify --adversary one-hot:noise=2", ("noise", "2")),
    ("verify --data absent.csv", ("absent.csv",)),
    ("verify --data one_class.csv", ("one_class.csv", "two classes")),
    ("verify --data nan.csv", ("nan", "'a'")),
    ("verify --data infinite.csv", ("inf", "'a'")),
    ("verify --data missing_label.csv", ("label",)),
    ("verify --data ragged.csv", ("ragged.csv",)),
    ("verify --data empty.csv", ("empty.csv", "empty")),
    ("verify --data header.csv", ("header.csv", "no rows")),
    ("verify --data text.csv", ("many", "'a'")),
    ("verify --data good.csv --label lable", ("lable", "label")),
    ("verify --data good.csv --label=", ("no label column ''", "a, b, label")),
    ("verify --data good.txt", ("good.txt", "ending '.txt'")),
    ("verify --data me@here/absent.csv", ("no such file", "me@here/absent.csv")),
    ("verify --data price.csv", ("'price'", "21 different numbers in 21 rows", "--label")),
    ("verify --data price.csv --label nothing", ("nothing", "'price.csv'")),
    ("verify --data good.csv --radius 0", ("B=0", "above 0")),
    ("verify --data good.csv --radius nan", ("B=nan", "above 0")),
    ("verify --data good.csv --adversary one-hot", ("--data", "--adversary")),
    ("verify --data labels.npz", ("labels.npz",)),
    ("verify --label a", ("'a'", "--data")),
    ("verify --learner absent.py:Broken", ("absent.py", "no such file")),
    ("verify --learner negative.py", ("FILE.py:Class",)),
    ("verify --learner negative.py:Brocken", ("Brocken", "did you mean 'Broken'")),
    ("verify --learner no_import.py:Broken", ("nothing_of_that_name", "import")),
    ("verify --learner syntax.py:Broken", ("SyntaxError",)),
    ("verify --learner no_predict.py:Broken --quick", ("predict",)),
    ("verify --learner negative.py:Broken --quick", ("round 3", "at least 0")),
    ("verify --learner nans.py:Broken --quick", ("round 3", "nan")),
    ("verify --learner sum.py:Broken --quick", ("round 3", "sum to 0.5")),
    ("verify --learner shape.py:Broken --quick", ("round 3", "probabilities")),
    (
        "verify --learner raises.py:Broken --quick",
        ("run 0", "round 0", "RuntimeError", "lost for good"),
    ),
    ("verify --learner weights.py:Broken --quick", ("run 0", "after round 0", "shape (1,)")),
    ("verify --learner leaves.py:Broken", ("leaves.py", "SystemExit")),
    ("verify --learner closes_early.py:Broken --quick", ("cannot be made", "GeneratorExit")),
    ("verify --learner closes_later.py:Broken --quick", ("round 0", "x [/y]x [/y]x", " ... ")),
    ("verify --learner closes_first.py:Broken --quick", ("not import", "GeneratorExit")),
    ("verify --learner leaves_early.py:Broken --quick", ("cannot be made", "SystemExit")),
    ("verify --learner leaves_later.py:Broken --quick", ("round 0", "SystemExit")),
    ("verify --learner gamma.py:Broken --quick", ("gamma=-1.0", "at least 0")),
    ("verify --learner gamma_word.py:Broken --quick", ("gamma='ones'", "at least 0")),
    (
        "verify --learner loss_number.py:Broken --quick",
        ("loss=5 of loss_number.py", "'smooth-hinge'"),
    ),
    (
        "verify --learner loss_word.py:Broken --quick",
        ("hinges", "expected one of hinge, logistic-2"),
    ),
    ("verify --learner rule_list.py:Broken --quick", ("['printed']", "expected one of mixture")),
    (
        "verify --data regression.csv",
        ("regression.csv", "60 different numbers in 60 rows", "--label"),
    ),
    ("verify --data tiny.csv", ("tiny.csv", "1e-90", "scale the features")),
    ("verify --data gap.svm", ("gap.svm", "2000000000 features", "100,000,000 weights")),
    ("verify --radius 1e200", ("B=1e+200", "from 1e-75 to 1e+75")),
    ("verify --learner promise.py:Broken", ("gapletron/lemma-1", "mean 'gappletron/lemma-1'")),
    ("verify --learner promise_number.py:Broken", ("promises=5", "globs")),
    ("verify --learner promise_late.py:Broken --quick", ("promises", "on the class")),
    ("verify --claims absent.py", ("absent.py", "no such file")),
    ("verify --claims no_claims.py", ("no_claims.py", "Claim")),
    ("verify gappletron/lemma-3 --quick --out file/below", ("file/below", "cannot be written")),
    ("verify --out file", ("file", "cannot be written")),
    ("verify --json file/below.json", ("file/below.json", "cannot be written")),
    ("verify --junit absent/below.xml", ("absent/below.xml", "cannot be written")),
    ("verify --json .", ("'.'", "cannot be written")),
    ("verify --quick --full", ("--quick", "--full")),
    ("verify --seed -1", ("-1",)),
    ("verify --jobs 0", ("0",)),
    ("verify --runs 0", ("--runs", "0", "x>=1")),
    ("verify --runs -3", ("--runs", "-3", "x>=1")),
    ("verify --runs many", ("--runs", "many", "integer")),
    ("verify --radios 2", ("--radios", "--radius")),
    ("verfy", ("verfy", "did you mean 'verify'")),
    ("list claim", ("claim", "did you mean 'claims'")),
    ("report --results absent", ("absent", "verify")),
    ("replay absent.json", ("absent.json",)),
    ("replay not.json", ("not.json", "not JSON")),
    ("replay list.json", ("list.json", "schema")),
    ("replay other.json", ("schema 99", "expected 3")),
    ("replay deep.json", ("deep.json", "nested too deeply")),
    ("replay deeper.json", ("deeper.json", "nested too deeply")),
    ("replay infinity.json", ("infinity.json", "not JSON", "Infinity")),
    ("replay bytes.json", ("bytes.json", "not JSON")),
    ("replay claim_list.json", ()),
    ("replay no_instance.json", ("no_instance.json",)),
    ("replay .", ("'.'", "cannot be read")),
    ("replay bare.json", ("bare.json", "missing")),
]


@pytest.mark.parametrize(("command", "words"), CASES, ids=[command for command, _ in CASES])
def test_one_sentence_and_exit_2(
    command: str,
    words: tuple[str, ...],
    prepared: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = files(prepared)
    arguments = command.split()
    if ".py:" in command:  # starting processes takes longer; the next test does that
        arguments += ["--jobs", "1"]
    assert run(*arguments, monkeypatch=monkeypatch, folder=prepared) == 2
    error = capsys.readouterr().err
    lines = [line for line in error.splitlines() if " of " not in line or "cases" not in line]
    assert len(lines) == 1, error
    assert lines[0].startswith("boundcheck: error: ")
    for word in words:
        assert word in lines[0]
    after = files(prepared)
    assert {name: after[name] for name in before} == before, "no file of the user's may change"


def test_an_error_leaves_earlier_results_alone(
    prepared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = prepared / "boundcheck-report" / "certificates"
    earlier.mkdir(parents=True)
    (earlier / "old.json").write_text("{}", encoding="utf-8")
    (earlier.parent / "verdicts.json").write_text("{}", encoding="utf-8")
    kept = files(earlier.parent)
    command = ("verify", "--learner", "sum.py:Broken", "--quick", "--jobs", "2")
    assert run(*command, monkeypatch=monkeypatch, folder=prepared) == 2
    assert files(prepared / "boundcheck-report") == kept


@pytest.mark.parametrize("horizon", [0, -1])
def test_no_rounds(horizon: int) -> None:
    """The number of rounds cannot be chosen on the command line."""
    with pytest.raises(UserError, match=f"T={horizon}: expected at least 1"):
        resolve(Setting("uniform", "one-hot", "full", horizon), 0)


def test_no_runs() -> None:
    with pytest.raises(UserError, match="runs=0: expected at least 1 run"):
        resolve(Setting("uniform", "one-hot", "full", 10, runs=0), 0)
    with pytest.raises(UserError, match="runs=0: expected at least 1"):
        plan.jobs_for(plan.Request(runs=0))
    assert {job.sampled_runs for job in plan.jobs_for(plan.Request(runs=7))} == {7}
    assert {job.sampled_runs for job in plan.jobs_for(plan.Request(graph="full", runs=7))} == {7}


@pytest.mark.parametrize(
    "command", ["verify --json file/x", "verify --junit file/x", "verify --out file"]
)
def test_files_are_tried_before_the_run(
    command: str, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "run", lambda *_: pytest.fail("played first"))
    assert run(*command.split(), monkeypatch=monkeypatch, folder=prepared) == 2


@pytest.mark.parametrize(
    "failure", [RuntimeError("of ours\nat fault"), SystemExit(0), GeneratorExit()]
)
def test_a_failure_of_ours_is_no_surprise(
    failure: BaseException,
    prepared: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Status 1 says that a theorem surprised, status 0 that all was as expected."""

    def fails(*_: object) -> None:
        raise failure

    monkeypatch.setattr(suite, "run", fails)
    assert run("verify", monkeypatch=monkeypatch, folder=prepared) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert type(failure).__name__ in error


def test_interrupted(
    prepared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(suite, "run", fails)
    assert run("verify", monkeypatch=monkeypatch, folder=prepared) == 130
    assert capsys.readouterr().err.strip().startswith("boundcheck: interrupted")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("verify game/* --quick --json a.json --junit a.json", "'a.json' is named twice"),
        (
            "verify game/* --quick --out o --json o/verdicts.json",
            "'o/verdicts.json' is named twice",
        ),
        ("report --study a/mine --study b/mine", "two studies are called 'mine'"),
        ("report --study a/mine --out plan.json", "'plan.json' is a file but not a page"),
    ],
)
def test_outputs_do_not_write_over_others(
    arguments: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "plan.json").write_text("a plan", encoding="utf-8")
    assert run(*arguments.split(), monkeypatch=monkeypatch, folder=tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
    assert (tmp_path / "plan.json").read_text(encoding="utf-8") == "a plan"
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
