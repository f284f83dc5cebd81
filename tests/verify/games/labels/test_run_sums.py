"""Sums of prefixes of runs: they are those of the rounds, and an envelope speaks of its own prefix."""

from __future__ import annotations

from dataclasses import replace
from math import fsum

import numpy as np
import pytest

from boundcheck.adversaries.segments import Segments
from boundcheck.verify import catalog
from boundcheck.verify.claim import Cell
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.claims.gappletron.theorem_4 import _sides_a, _sides_b
from boundcheck.verify.claims.gappletron.theorems_3_and_5 import _sides_3, _sides_5
from boundcheck.verify.games.game import CHECKPOINTS, checkpoints
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.record import BLOCK, ERROR, LOSS, MISTAKE, OBSERVATION
from boundcheck.verify.games.labels.run_sums import RunSums, add_up
from boundcheck.verify.outcome import Curve, Outcome, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite


def toy(tuning: str, graph: str, horizon: int, replicates: int = 4, noise: float = 0.1) -> Setting:
    learner = gappletron("smooth-hinge", "threshold", "projected", tuning)
    return Setting(learner, f"one-hot:noise={noise}", graph, horizon, runs=replicates)


def totals_of(case: Case, runs: int) -> list[RunSums]:
    """What the first runs of a case add up to at its checkpoints."""
    return case.totals_at(checkpoints(case.horizon).tolist(), range(runs))


def judged(part: str, setting: Setting) -> tuple[Outcome, Curve]:
    """What the repaired form of a theorem, or the only one, says of a setting, and its curve."""
    rows = suite.judge_job(suite.Job(setting, (f"gappletron/theorem-{part}",)), 0)
    found = rows[-1].outcome
    assert found.curve is not None
    return found, found.curve


@pytest.mark.parametrize("horizon", [1, 2, 59, 60, 61, 5000, 123_457])
def test_checkpoints_rise_to_the_horizon(horizon: int) -> None:
    marks = checkpoints(horizon)
    assert marks[0] == 1
    assert marks[-1] == horizon
    assert (np.diff(marks) > 0).all()
    assert len(marks) <= CHECKPOINTS
    assert len(checkpoints(10**18)) == CHECKPOINTS, "as many as there is room for"


def test_sums_are_those_of_the_rounds_before_their_checkpoint() -> None:
    horizon = 2 * BLOCK + 700
    case = resolve(toy("theorem-4a", "filtering", horizon), 3)
    prefixes = totals_of(case, 2)
    assert [prefix.rounds for prefix in prefixes] == checkpoints(horizon).tolist()
    for replicate in range(2):
        blocks = list(case.play(replicate))
        columns = np.concatenate([rounds.block.columns for rounds in blocks])
        losses = np.concatenate([rounds.comparator_losses for rounds in blocks])
        explored = np.concatenate([rounds.explores for rounds in blocks])
        wrong = np.concatenate([rounds.block.best != rounds.block.labels for rounds in blocks])
        for prefix in prefixes:
            t = prefix.rounds
            sums = {
                "errors": fsum(columns[:t, ERROR]),
                "mistakes": fsum(columns[:t, MISTAKE]),
                "learner_loss": fsum(columns[:t, LOSS]),
                "comparator_loss": fsum(losses[:t]),
                "explored": np.count_nonzero(explored[:t]),
                "largest_weight": 1 / columns[:t, OBSERVATION].min(),
                "wrong_best": np.count_nonzero(wrong[:t]),
            }
            for name, total in sums.items():
                assert getattr(prefix, name)[replicate] == pytest.approx(total, rel=1e-12), (
                    name,
                    t,
                )


@pytest.mark.parametrize(("loss", "graph"), [("smooth-hinge", "filtering"), ("hinge", "bandit")])
def test_the_sums_of_a_block_have_the_bits_of_numpys_running_sums(loss: str, graph: str) -> None:
    learner = gappletron(loss, "threshold", "projected", "theorem-4a")
    case = resolve(Setting(learner, "one-hot:noise=0.1", graph, 900), 3)
    (rounds,) = case.play(0)
    marks = [1, 2, 450, 899, 900]
    native, plain = (add_up([rounds], marks, interpreted=form) for form in (False, True))
    assert native.tobytes() == plain.tobytes()
    at = np.array(marks) - 1
    terms = (*(rounds.column(each) for each in (ERROR, MISTAKE, LOSS)), rounds.comparator_losses)
    for i, each in enumerate(terms):
        assert native[:, i].tobytes() == np.cumsum(each)[at].tobytes()
    backwards = np.cumsum(terms[0][::-1])[-1]
    assert native[-1, 0] != backwards, "another order of additions is seen"


def _regret_bounds(part: str, case: Case, at: int) -> list[float]:
    """The envelopes without the comparator's loss, after ``at`` rounds of the first run."""
    prefix = next(prefix for prefix in totals_of(case, 1) if prefix.rounds == at)
    form = catalog.claims()[f"gappletron/theorem-{part}"].forms[-1]
    if part.startswith("4"):
        mean = {"4a": _sides_a, "4b": _sides_b}[part](case, form, prefix)
        ceilings = [bound.ceiling - float(mean.base[0]) for bound in mean.bounds]
        return [*(float(b.values[0] - mean.base[0]) for b in mean.bounds), *ceilings, mean.most]
    sides = {"3": _sides_3, "5": _sides_5}[part[0]](part.endswith("b"), case, form, prefix)
    return [float(envelope[0] - sides.base[0]) for envelope in sides.envelopes.values()]


@pytest.mark.parametrize("part", ["3a", "3b", "4a", "4b", "5a", "5b"])
def test_the_envelope_of_a_prefix_is_that_of_a_game_so_long(part: str) -> None:
    """No tuning and no envelope knows the horizon; every label counts in bandit feedback."""
    tuning, graph = ("ones", "full") if part.startswith("3") else (f"theorem-{part}", "bandit")
    long = resolve(toy(tuning, graph, 20_000, noise=0.0), 0)
    at = int(checkpoints(20_000)[-12])
    short = resolve(toy(tuning, graph, at, noise=0.0), 0)
    assert long.declaration == replace(short.declaration, loss=long.declaration.loss)
    expected = _regret_bounds(part, short, at)
    assert _regret_bounds(part, long, at) == pytest.approx(expected, rel=1e-12)
    if not part.startswith("3"):  # and it is no constant
        assert max(_regret_bounds(part, long, 20_000)) > 1.5 * max(expected)


def test_the_ceiling_of_a_prefix_knows_no_later_loss() -> None:
    """In bandit feedback nothing in the envelope of 4a is random, so that it is its own ceiling."""
    case = resolve(toy("theorem-4a", "bandit", 3000), 0)
    form = catalog.claims()["gappletron/theorem-4a"].form("repaired")
    for prefix in totals_of(case, 2):
        (bound,) = _sides_a(case, form, prefix).bounds
        assert bound.ceiling == pytest.approx(bound.values, rel=1e-12), prefix.rounds


def test_the_curve_of_a_mean_ends_in_its_verdict() -> None:
    runs = 32
    found, curve = judged("4a", toy("theorem-4a", "filtering", 12_000, runs, noise=0.01))
    assert found.verdict == Verdict.HOLDS
    last = curve.rounds == 12_000
    assert np.array_equal(curve.replicate[last], np.arange(runs))
    assert curve.observed[last].mean() == found.observed
    assert curve.envelope[last].mean() == found.envelope
    assert np.isnan(curve.delta).all()
    assert len(curve.rounds) == runs * len(checkpoints(12_000))


def test_the_curve_of_a_maximum_of_means_is_the_binding_one() -> None:
    """As printed 4a takes the larger of two means: the constant first, the root later."""
    setting = toy("theorem-4a", "bandit", 12_000, 32, noise=0.0)
    case = resolve(setting, 0)
    claim = catalog.claims()["gappletron/theorem-4a"]
    curve = claim.judge.examine(Cell(claim, claim.form("printed"), case), 32).curve
    assert curve is not None
    for prefix in totals_of(case, 32):
        bounds = _sides_a(case, claim.form("printed"), prefix).bounds
        largest = max(float(bound.values.mean()) for bound in bounds)
        assert curve.envelope[curve.rounds == prefix.rounds].mean() == largest


def test_the_curve_of_a_tail_has_every_delta() -> None:
    runs = 60
    found, curve = judged("3a", toy("ones", "full", 3000, runs, noise=0.05))
    deltas = (0.5, 0.2, 0.05)
    assert set(curve.delta) == set(deltas)
    case = resolve(toy("ones", "full", 3000, noise=0.05), 0)
    mistakes = totals_of(case, runs)[-1].mistakes
    for delta in deltas:
        last = (curve.rounds == 3000) & (curve.delta == delta)
        assert np.array_equal(curve.observed[last], mistakes)
        beyond = np.count_nonzero(curve.observed[last] > curve.envelope[last])
        assert f"delta {delta:g}: {beyond} of {runs} violate" in found.evidence
    envelopes = [curve.envelope[curve.delta == delta][0] for delta in deltas]
    assert envelopes[0] < envelopes[1] < envelopes[2]


def test_the_curve_of_theorem_6_is_of_the_environment_that_forces_most() -> None:
    n, runs = 4, 12
    setting = Setting(
        f"segment-probe:n={n}", f"segments:n={n}", "filtering:revealing=1", None, 2.5, runs
    )
    _, curve = judged("6", setting)
    case = resolve(setting, 0)
    means = []
    for environment in range(n + 1):
        sequence = Segments(n, environment).sequence()
        game = replace(case, sequence=sequence).game
        played = [block.column(MISTAKE).sum() for r in range(runs) for block in game.play(r)]
        means.append(sum(played) / runs)
    assert min(means) < n / 2 < max(means)
    assert curve.observed.mean() == pytest.approx(max(means))
    assert set(curve.rounds) == {n * (n + 1) // 2}
    assert set(curve.envelope) == {n / 2}
