"""Checks for a test suite: a learner of the user's, its promises, and what is said when one is broken."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from pathlib import Path
from unittest import SkipTest

import numpy as np
import pytest
from without_numba import replay_without_numba

import boundcheck
from boundcheck import RefutedPromise, UserError, check_learner, parametrize_with_claims
from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.learner import Problem
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.suite import pytest_checks
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.pytest_checks import as_learner, promised_claims

README = Path(boundcheck.__file__).parent / "README.md"


def readme_learner() -> str:
    """The text of the README's my_learner.py."""
    found = re.search(
        r"^```python\n(# my_learner\.py\n.*?)^```$", README.read_text("utf-8"), re.M | re.S
    )
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("name", "value", "legal"), [("optimiser", "'adam'", "projected"), ("delta", "1.0", "(0, 1)")]
)
def test_a_wrong_declaration_is_refused(name: str, value: str, legal: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    wrong = f"class Wrong(MyLearner):\n    {name} = {value}\n"
    file.write_text(readme_learner() + "\n\n" + wrong, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(legal)):
        surprises(f"{file}:Wrong", "bandit")


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The README's learner as FILE.py:Class."""
    file = tmp_path_factory.mktemp("mine") / "my_learner.py"
    file.write_text(readme_learner(), encoding="utf-8")
    return f"{file}:MyLearner"


def surprises(learner: str, graph: str | None = None) -> list[suite.Row]:
    jobs = plan.jobs_for(plan.Request(learner=learner, graph=graph, scale="quick"))
    return [row for rows in suite.run(jobs, 0) for row in rows if row.surprising]


def test_the_readme_learner_keeps_its_promises(mine: str) -> None:
    assert surprises(mine) == []


BREAKS = {
    "counts four times": ("self.explored += 1", "self.explored += 4", "gappletron/bound-9"),
    "halves the gap": (").max())) ** 2", ").max())) ** 2 / 2", "gappletron/lemma-1"),
    "steps too far": (
        "np.sqrt(2) * self.bound / np",
        "2 * self.bound / np",
        "gappletron/updates",
    ),
    "climbs": ("-weight * slope * x, weight", "weight * slope * x, -weight", "gappletron/lemma-2"),
}


@pytest.fixture(scope="module", params=BREAKS)
def refuted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[suite.Row, Path]:
    """The README's learner with one expression changed: a row that refutes it, and its certificate."""
    old, new, claim = BREAKS[request.param]
    text = edited(readme_learner(), old, new).replace("MyLearner", "BrokenLearner")
    file = tmp_path_factory.mktemp("broken") / "broken_learner.py"
    file.write_text(text, encoding="utf-8")
    rows = surprises(f"{file}:BrokenLearner", "filtering")
    assert {row.verdict for row in rows} == {Verdict.REFUTED}
    row = next(row for row in rows if row.claim == claim)
    assert row.outcome.certificate is not None
    for found in (r.outcome for r in rows):  # what is shown is a violation, not the sums at the end
        assert found.observed is not None
        assert found.envelope is not None
        assert found.observed > found.envelope
    return row, row.outcome.certificate.write(file.parent)


def test_a_learner_without_weights_is_not_judged_by_its_scores(tmp_path: Path) -> None:
    """The game knows no scores then, and must not take them for zeros."""
    file = tmp_path / "hidden.py"
    file.write_text(readme_learner().replace("self.weights", "self.hidden"), encoding="utf-8")
    jobs = plan.jobs_for(
        plan.Request(learner=f"{file}:MyLearner", graph="filtering", scale="quick")
    )
    rows = [row for rows in suite.run(jobs, 0) for row in rows]
    judged = {row.claim for row in rows if row.verdict != Verdict.NOT_APPLICABLE}
    assert judged == {"game/distribution", "game/no-peeking"} & judged
    assert judged
    reasons = {row.outcome.evidence for row in rows if row.claim == "gappletron/algorithm-1"}
    assert any("no attribute 'weights'" in reason for reason in reasons)


def test_weights_that_become_nan_are_an_error_of_the_learner(tmp_path: Path) -> None:
    file = tmp_path / "nan.py"
    text = edited(readme_learner(), "self.weights *= min", "self.weights *= np.nan * min")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"weights of .*MyLearner are not finite after round \d+"):
        check_learner(f"{file}:MyLearner", graph="bandit")


def test_an_edited_file_is_not_the_learner_that_was_refuted(tmp_path: Path) -> None:
    file = tmp_path / "timid.py"
    source = "import numpy as np\nfrom boundcheck.algorithms.learner import Problem\n\n"
    file.write_text(source + inspect.getsource(Timid), encoding="utf-8")
    with pytest.raises(RefutedPromise) as caught:
        check_learner(f"{file}:Timid", graph="bandit", adversary="one-hot:n_labels=3")
    assert caught.value.certificate is not None
    certificate = caught.value.certificate.write(tmp_path)
    assert replay(certificate, trust=True).claim.id == "gappletron/lemma-1"
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(UserError, match="is not the one that was refuted"):
        replay(certificate, trust=True)
    file.unlink()
    with pytest.raises(UserError, match="no such file"):
        replay(certificate, trust=True)


def test_a_broken_file_is_refuted_by_a_game_that_replays(refuted: tuple[suite.Row, Path]) -> None:
    row, certificate = refuted
    assert re.search(r"run \d+, round \d+", row.outcome.evidence)
    accepted = replay(certificate, trust=True)
    assert accepted.content["kind"] in ("played", "audit")
    assert accepted.content["game"]["learner"].endswith("broken_learner.py:BrokenLearner")
    assert accepted.observed > accepted.envelope


def test_such_a_game_replays_without_numba(refuted: tuple[suite.Row, Path]) -> None:
    row, certificate = refuted
    ((claim, observed, envelope),) = replay_without_numba([certificate])
    assert claim == row.claim
    assert observed > envelope


class Timid:
    """Plays every action alike, and says that it is Gappletron."""

    promises = ("gappletron/lemma-1", "game/no-peeking")
    loss, gamma = "smooth-hinge", 0.0

    def __init__(self, problem: Problem) -> None:
        self.p = np.full(problem.graph.n_actions, 1 / problem.graph.n_actions)
        self.weights = np.eye(problem.n_labels, problem.n_features)

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.p

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


class Modest(Timid):
    """The same, and promises what is true of it."""

    promises = ("game/*",)


class Unfair(Timid):
    """Its probabilities sum to a millionth more than one."""

    promises = ()

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.p + np.eye(len(self.p))[0] * 1e-6


def test_the_error_names_claim_round_and_both_sides() -> None:
    with pytest.raises(RefutedPromise) as caught:
        check_learner(Timid, graph="bandit", adversary="one-hot:n_labels=3")
    row, certificate = caught.value.row, caught.value.certificate
    assert row.claim == "gappletron/lemma-1"
    assert certificate is row.outcome.certificate
    assert certificate is not None
    title = re.escape(catalog.claims()[row.claim].title)
    assert re.search(
        rf"^gappletron/lemma-1 .*{title}.*refuted for .*test_checks.py:Timid.*run 0, round 0.*"
        r"observed 0\.66\d*, envelope 0;",
        str(caught.value),
    )


def test_the_certificate_of_a_class_in_a_file_replays(tmp_path: Path) -> None:
    with pytest.raises(RefutedPromise) as caught:
        check_learner(Timid, graph="bandit", adversary="one-hot:n_labels=3")
    assert caught.value.certificate is not None
    accepted = replay(caught.value.certificate.write(tmp_path), trust=True)
    assert accepted.claim.id == "gappletron/lemma-1"
    assert accepted.content["game"]["learner"].endswith("test_checks.py:Timid")


def test_a_claim_about_other_learners_skips() -> None:
    about_lemma_3 = type("AboutLemma3", (Timid,), {"promises": ("gappletron/lemma-3",)})
    with pytest.raises(SkipTest, match=r"tested: gappletron/lemma-3 \(it is about the hinge loss"):
        check_learner(about_lemma_3, claims=["gappletron/lemma-3"], graph="full")


COMPILED = """
from dataclasses import replace
from boundcheck.algorithms.learner import PREDICT
from boundcheck.algorithms.uniform import Uniform
from boundcheck.compiled import kernel

@kernel(PREDICT)
def predict(scores, best, runner, gap, parameters, state, p):
    state[4] += 1.0
    for k in range(p.shape[0]):
        p[k] = 1.0 / p.shape[0]
    if state[4] > 3.0:
        {break}

class Compiled:
    spec, promises = "compiled", ("game/*",)

    def player(self, problem):
        return replace(Uniform().player(problem), predict=predict)
"""

NO_DISTRIBUTIONS = {
    "negative": ("p[0] -= 1.0; p[1] += 1.0", r"\[-0\.6+.*\]"),
    "short": ("p[0] -= 1e-6", r"\[0\.33333[23]\d*, .*\]"),
    "nan": ("p[0] = (state[4] - state[4]) / state[2]", r"\[nan, .*\]"),
}


@pytest.mark.parametrize("fault", NO_DISTRIBUTIONS)
def test_what_a_compiled_learner_returns_is_looked_at_too(fault: str, tmp_path: Path) -> None:
    code, message = NO_DISTRIBUTIONS[fault]
    file = tmp_path / "compiled_learner.py"
    file.write_text(COMPILED.replace("{break}", code), encoding="utf-8")
    with pytest.raises(UserError, match=f"learner compiled .*{message} in round 3: expected"):
        check_learner(f"{file}:Compiled", graph="bandit", adversary="one-hot:n_labels=3")


def test_only_promises_can_be_broken() -> None:
    rows = check_learner(Modest, graph="bandit", adversary="one-hot:n_labels=3")
    verdicts = {row.claim: row.verdict for row in rows if row.form == "printed"}
    assert verdicts["game/no-peeking"] == Verdict.HOLDS
    assert "gappletron/lemma-1" in {row.claim for row in rows if row.verdict == Verdict.REFUTED}


def test_probabilities_must_sum_to_one() -> None:
    with pytest.raises(
        UserError, match=r"Unfair returned probabilities that sum to 1\.000001.* in"
    ):
        check_learner(Unfair, graph="bandit", adversary="one-hot:n_labels=3")


def test_a_learner_may_be_given_in_four_ways() -> None:
    spec = Gappletron().spec
    for learner in (spec, Gappletron(), Gappletron):
        rows = check_learner(learner, claims=["gappletron/lemma-1"], graph="full")
        assert {row.learner for row in rows} == {spec}
        assert Verdict.HOLDS in {row.verdict for row in rows}
    assert as_learner(Timid).spec.endswith("test_checks.py:Timid")
    assert as_learner(lambda problem: Timid(problem)).spec == "<lambda>"
    with pytest.raises(UserError, match="learner 3: expected"):
        as_learner(3)


@parametrize_with_claims([Modest, Gappletron()])
def test_promises(learner: object, claim: str, request: pytest.FixtureRequest) -> None:
    """One case for each promise, with a name that can be read."""
    assert claim in promised_claims(learner)
    name = "Modest" if learner is Modest else Gappletron().spec
    assert request.node.name == f"test_promises[{name}-{claim}]"


def test_every_promise_is_a_case() -> None:
    mark = parametrize_with_claims([Modest, Gappletron()]).mark
    assert mark.args[0] == ("learner", "claim")
    given = [(case.values[0], case.values[1]) for case in mark.args[1]]
    assert {claim for learner, claim in given if learner is Modest} == {
        name for name in catalog.claims() if name.startswith("game/")
    }
    assert {claim for learner, claim in given if learner is not Modest} == {
        name for name in catalog.claims() if name.startswith(("game/", "gappletron/"))
    }
    assert len(given) == len(set(given))


class Sharing:
    """Uniform play, with two promises."""

    promises = ("game/*", "gappletron/lemma-1", "gappletron/condition-3")
    loss = "smooth-hinge"

    def __init__(self, problem: Problem) -> None:
        self.n_actions = problem.graph.n_actions
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.full(self.n_actions, 1 / self.n_actions)

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


def test_claims_of_one_learner_share_their_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run for all promises, with the verdicts of runs of their own."""
    played = []
    play = pytest_checks._Asked.played
    monkeypatch.setattr(
        pytest_checks._Asked, "played", lambda *given: played.append(given) or play(*given)
    )
    cases = parametrize_with_claims([Sharing]).mark.args[1]
    claims = [case.values[1] for case in cases]
    assert len(claims) == 3
    where = {"graph": "bandit", "adversary": "one-hot:n_labels=3"}
    together = []
    for claim in claims:
        with suppress(SkipTest):
            together += check_learner(Sharing, claims=[claim], **where)
    assert len(played) == 1
    alone = []
    for claim in claims:
        with suppress(SkipTest):
            alone += check_learner(Sharing, claims=[str(claim)], **where)
    assert len(played) == 1 + len(claims)
    assert {row.claim for row in alone} >= {"game/no-peeking", "gappletron/condition-3"}
    assert [row.to_json() for row in together] == [row.to_json() for row in alone]
    monkeypatch.setattr(Sharing, "loss", "logistic-2")
    with suppress(SkipTest):
        check_learner(Sharing, claims=[claims[-1]], **where)
    assert len(played) == 2 + len(claims), "another loss is another learner"
