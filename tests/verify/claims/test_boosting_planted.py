"""Planted failures: boosters that compute something else, and statements that claim more than is true."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact_boosters import ADA3, BBM3, BBM4, MBBM4, OLM3, rows_of, setting

from boundcheck.algorithms.boosting import adaptive, estimates, logistic, majority, potentials
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claim import Cell, Claim, Form, Proof
from boundcheck.verify.claims.boosting.estimates_in_play import branches
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.outcome import Outcome, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting


def flipped_slopes(scores: Any, labels: Any, weights: Any) -> Any:
    """The sign of the margin flipped for the right label, as in the authors' code."""
    found = SLOPES(scores, labels, weights)
    moved, n = scores.copy(), np.arange(len(labels))
    moved[n, labels] += weights
    at = moved[n, labels]
    found[n, labels] = -((1 / (1 + np.exp(moved - at[:, None]))).sum(axis=1) - 0.5)
    return found


SLOPES, COSTS = logistic.slopes, logistic.cost_matrix
EXPLORE, LOSSES = estimates.exploration, estimates.loss_estimate


def forgets_the_played_label(best: int, played: int, correct: bool, p: Any) -> Any:
    losses = LOSSES(best, played, correct, p)
    if correct and played != best:
        losses[played] = 1 / p[played]
    return losses


def weighs_by_the_best(best: int, played: int, correct: bool, p: Any) -> Any:
    losses = LOSSES(best, played, correct, p)
    return losses * p[played] / p[best]


def explores_the_best_too(best: int, rho: Any, n_labels: int) -> Any:
    p = EXPLORE(best, rho, n_labels)
    p[:] = rho / n_labels
    p[best] = p[best] + 1 - rho
    return p


class Altered:
    """A booster in play of which something is altered once it has learned from a round."""

    def __init__(self, boosting: Any, learner: Any, change: Callable[[Altered], None]) -> None:
        self.boosting, self.learner, self.change = boosting, learner, change

    def __getattr__(self, name: str) -> Any:
        if name in ("boosting", "__deepcopy__") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.boosting, name)

    def update(self, x: Any, action: int, label: int | None) -> None:
        self.alphas_before = getattr(self.boosting, "alphas", np.zeros(0))
        self.boosting.update(x, action, label)
        self.action, self.right = action, label == action
        self.change(self)


def altered(learner: type[Any], change: Callable[[Altered], None]) -> tuple[type[Any], str, Any]:
    """How to plant a change: where, what, and with which method."""
    begin = learner.begin

    def begins(self: Any, problem: Any, generator: Any, **rest: Any) -> Any:
        return Altered(begin(self, problem, generator, **rest), self, change)

    return learner, "begin", begins


def estimates_of_the_next_label(booster: Altered) -> None:
    booster.losses = np.roll(booster.boosting.losses, 1)


def tells(matrices: Callable[[Altered], Any]) -> Callable[[Altered], None]:
    """Tell the estimate of other matrices than those of the booster."""

    def change(booster: Altered) -> None:
        factors = 1 - booster.boosting.losses
        rows = np.array(matrices(booster))
        scale = booster.learner.scales(rows.shape[-1]) if hasattr(booster.learner, "scales") else 6
        costs = np.einsum("r,nrl->nl", factors, rows) / np.reshape(scale, (-1, 1))
        booster.told = (costs, booster.boosting.told[1])

    return change


def of_potentials(later: int) -> Callable[[Altered], Any]:
    """The cost matrices of boosting by majority with a number of votes too many to come."""

    def matrices(booster: Altered) -> Any:
        made, n = booster.learner.potentials(booster.n_labels), booster.n_learners
        return [made.cost_matrix(v, n - 1 - i + later) for i, v in enumerate(booster.before)]

    return matrices


def steps_up(booster: Altered) -> None:
    booster.alphas = 2 * booster.alphas_before - booster.boosting.alphas


def divides_by_nothing(booster: Altered) -> None:
    costs, weights = booster.boosting.told
    booster.told = (costs * (booster.n_labels - 1), weights)


def shrinks(booster: Altered) -> None:
    costs, weights = booster.boosting.told
    booster.told = (costs * 0.9, weights)


PLANTED: list[tuple[Any, str, Any, str, Setting]] = [
    (estimates, "loss_estimate", forgets_the_played_label, "loss-estimate-unbiased", BBM3),
    (estimates, "loss_estimate", weighs_by_the_best, "loss-estimate-unbiased", ADA3),
    (estimates, "exploration", explores_the_best_too, "loss-estimate-unbiased", BBM3),
    (estimates, "estimate", lambda losses, rows: losses @ rows, "cost-estimate-unbiased", BBM3),
    (estimates, "loss_bound", lambda k, rho: (k - 1) / rho, "loss-estimate-bounded", BBM3),
    (potentials.Potentials, "bound", lambda made, n: (made.n_labels - 1) * math.exp(-made.edge * n / 2),
     "potential-at-start", BBM3),
    (logistic, "slopes", flipped_slopes, "slope-estimate-unbiased", ADA3),
    (logistic, "cost_matrix", lambda s: -COSTS(s), "logistic-cost", ADA3),
    (logistic, "loss", lambda s, y: np.logaddexp(0, s - s[y]).sum(), "loss-floor", ADA3),
    (logistic, "empirical_edge", lambda costs, labels, y: float(np.mean(labels == y)), "edge-range", OLM3),
    (*altered(majority.BanditBBM, estimates_of_the_next_label), "loss-estimate-unbiased", BBM3),
    (*altered(adaptive.AdaBandit, estimates_of_the_next_label), "loss-estimate-unbiased", ADA3),
    (*altered(majority.BanditBBM, tells(lambda b: np.swapaxes(of_potentials(0)(b), 1, 2))),
     "cost-estimate-unbiased", BBM3),
    (*altered(adaptive.AdaBandit, tells(lambda b: COSTS(b.after))), "cost-estimate-unbiased", ADA3),
    (*altered(majority.BanditBBM, tells(of_potentials(1))), "potential-cost", BBM3),
    (*altered(majority.OnlineMBBM, shrinks), "potential-cost", MBBM4),
    (*altered(majority.BanditBBM, divides_by_nothing), "told-cost-bounded", BBM3),
    (*altered(adaptive.AdaboostOLM, shrinks), "logistic-cost", OLM3),
    (*altered(adaptive.AdaBandit, steps_up), "slope-estimate-unbiased", ADA3),
]  # fmt: skip


@pytest.mark.parametrize("learner", [majority.BanditBBM, adaptive.AdaBandit])
def test_the_altered_boosters_differ_in_what_is_altered_only(
    learner: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same matrices and no change at all are told to be right."""
    at, matrices = (BBM3, of_potentials(0)) if learner is majority.BanditBBM else (ADA3, _before)
    monkeypatch.setattr(*altered(learner, tells(matrices)))
    (row,) = rows_of("cost-estimate-unbiased", at).values()
    assert row.verdict == Verdict.HOLDS


def _before(booster: Altered) -> Any:
    return COSTS(booster.before)


@pytest.mark.parametrize(("module", "name", "broken", "claim", "at"), PLANTED)
def test_what_computes_something_else_is_refuted(
    module: Any,
    name: str,
    broken: Callable[..., Any],
    claim: str,
    at: Setting,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    honest = {form: row.verdict for form, row in rows_of(claim, at).items()}
    monkeypatch.setattr(module, name, broken)
    forms = catalog.claims()[f"boosting/{claim}"].forms
    rows = rows_of(claim, at)
    path = None
    for form in forms:
        row = rows[form.name]
        assert row.verdict == Verdict.REFUTED
        if form.proof == Proof.PROVED:
            assert honest[form.name] in (Verdict.HOLDS, Verdict.VACUOUS)
            certificate = row.outcome.certificate
            assert certificate is not None
            path = certificate.write(tmp_path)
            assert "is not what is stated" in row.outcome.evidence
    assert path is not None
    replay(path)
    monkeypatch.undo()
    with pytest.raises(UserError, match="does not violate"):
        replay(path)


def test_every_label_and_action_of_a_round_is_tried() -> None:
    found = list(branches(resolve(BBM3, 0)))
    assert {(branch.label, branch.action) for branch in found} == set(product(range(3), repeat=2))
    assert sum(branch.probability for branch in found) == pytest.approx(3)
    assert len({id(branch.boosting) for branch in found}) == 9


# statements that claim more than is true


def sharpened(claim: str, factor: Fraction, form: str) -> Any:
    """The claim with an envelope that is smaller by a factor."""
    known = catalog.claims()[f"boosting/{claim}"]

    def exact(instance: Any, of: Any) -> Any:
        observed, envelope = known.judge.exact(instance, of)
        return observed, envelope * factor

    return replace(known, judge=replace(known.judge, exact=exact)), known.form(form)


def found_of(claim: Claim, form: Form, at: Setting) -> Outcome:
    return decide(claim.judge.examine(Cell(claim, form, resolve(at, 0)), 1))


@pytest.mark.parametrize(
    ("claim", "form", "percent", "at"),
    [
        ("loss-estimate-bounded", "repaired", 99, BBM3),
        ("cost-estimate-bounded", "repaired", 99, BBM4),
        ("slope-estimate-bounded", "repaired", 99, ADA3),
        ("gradient-bounded", "derived", 99, OLM3),
        ("logistic-cost", "reconstructed", 66, ADA3),
        ("key-inequality", "derived", 98, OLM3),
        ("large-costs", "derived", 93, ADA3),
        ("loss-floor", "derived", 99, OLM3),
        ("edge-range", "reconstructed", 99, OLM3),
        ("potential-cost", "reconstructed", 99, MBBM4),
        ("largest-weight", "derived", 99, MBBM4),
        ("potential-at-start", "derived", 72, setting("online-mbbm:learners=10,gamma=0.05", 2, "full")),
    ],
)  # fmt: skip
def test_a_constant_that_is_a_little_too_small_is_refuted(
    claim: str, form: str, percent: int, at: Setting
) -> None:
    stronger, of = sharpened(claim, Fraction(percent, 100), form)
    found = found_of(stronger, of, at)
    assert found.verdict == Verdict.REFUTED
    assert found.certificate is not None
    assert found.certificate.content["kind"] == "exact"
    honest = catalog.claims()[f"boosting/{claim}"]
    assert found_of(honest, of, at).verdict == Verdict.HOLDS
