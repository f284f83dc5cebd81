"""The exact claims about boosting: what is true, what is false with its certificate, and planted failures."""

from __future__ import annotations

import contextlib
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact_boosters import ADA3, BBM3, BBM4, MBBM4, OLM3, rows_of, setting
from tampering import tampered
from without_numba import replay_without_numba

from boundcheck.algorithms.boosting import logistic, potentials
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates import instances
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claim import Cell, Proof
from boundcheck.verify.claims.boosting import estimates as estimate_claims
from boundcheck.verify.claims.boosting import estimates_bounded, logistic_edge
from boundcheck.verify.claims.boosting.logistic_slope import SlopeInstance
from boundcheck.verify.claims.boosting.potential_at_start import StartInstance
from boundcheck.verify.claims.boosting.potentials import VotesInstance
from boundcheck.verify.exact import boosting as exact_boosting
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.outcome import Certificate, Verdict, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite

IDS = [
    f"boosting/{name}"
    for name in (
        "loss-estimate-unbiased",
        "cost-estimate-unbiased",
        "loss-estimate-bounded",
        "cost-estimate-bounded",
        "told-cost-bounded",
        "slope-estimate-bounded",
        "slope-estimate-unbiased",
        "logistic-cost",
        "gradient-bounded",
        "edge-range",
        "key-inequality",
        "large-costs",
        "loss-floor",
        "potential-cost",
        "potential-at-start",
        "largest-weight",
    )
]


def test_the_built_in_cases_hold_no_surprise_and_every_false_form_is_refuted() -> None:
    every = plan.jobs_for(plan.Request(tuple(IDS), scale="quick"))
    jobs = [job for job in every if re.search("n_labels=[48]|learners=20", job.setting.key)]
    rows = [row for job in jobs for row in suite.judge_job(job, 0)]
    assert not [row for row in rows if row.surprising]
    assert {row.claim for row in rows} == set(IDS)
    refuted = {(row.claim, row.form) for row in rows if row.verdict == Verdict.REFUTED}
    false = {
        (claim.id, form.name)
        for claim in map(catalog.claims().get, IDS)
        for form in claim.forms
        if form.proof == Proof.FALSE
    }
    assert refuted == false
    for row in rows:
        assert (row.outcome.certificate is not None) == (row.verdict == Verdict.REFUTED)
        assert row.verdict in (Verdict.HOLDS, Verdict.REFUTED, Verdict.VACUOUS)
        assert (row.verdict == Verdict.VACUOUS) <= (row.claim == "boosting/potential-at-start")
    assert {form for _, form in refuted} == {"reconstructed", "transferred"}


@pytest.mark.parametrize("name", IDS)
def test_learners_that_are_no_such_boosters_are_not_judged(name: str) -> None:
    (row, *_) = suite.judge_job(suite.Job(setting("gaptron", 3), (name,), users=True), 0)
    assert row.verdict == Verdict.NOT_APPLICABLE
    assert "it is about" in row.outcome.evidence
    for at in (MBBM4, OLM3):
        for row in suite.judge_job(suite.Job(at, (name,)), 0):
            assert "estimate" not in name or row.verdict == Verdict.NOT_APPLICABLE


# certificates

REFUTED = {
    "loss-estimate-bounded": BBM3,
    "cost-estimate-bounded": BBM4,
    "told-cost-bounded": BBM4,
    "slope-estimate-bounded": ADA3,
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("boosting")
    found: dict[str, Certificate] = {}
    for name, at in REFUTED.items():
        (found[name],) = (c for row in rows_of(name, at).values() if (c := row.outcome.certificate))
    return {name: certificate.write(folder) for name, certificate in found.items()}


def test_certificates_hold_the_smallest_instances(certificates: dict[str, Path]) -> None:
    held = {}
    for name, path in certificates.items():
        content = json.loads(path.read_text(encoding="utf-8"))
        assert content["kind"] == "exact"
        assert path.stat().st_size < 2000
        held[name] = content["instance"], content["sides"]
    instance, sides = held["cost-estimate-bounded"]
    assert instance["rho"] == "1/10"
    assert sides == {"observed": "58", "envelope": "40"}
    instance, sides = held["told-cost-bounded"]
    assert sides == {"observed": "5256/125", "envelope": "40"}


def test_replay_accepts_them_without_numba(certificates: dict[str, Path]) -> None:
    found = replay_without_numba(certificates.values())
    assert len(found) == len(certificates)
    assert all(observed > envelope for _, observed, envelope in found)


@pytest.mark.parametrize("name", REFUTED)
def test_replay_rejects_them_after_any_one_number_is_changed(
    name: str, certificates: dict[str, Path], tmp_path: Path
) -> None:
    content = json.loads(certificates[name].read_text(encoding="utf-8"))
    digest = content.pop("digest")
    file, accepted, tried = tmp_path / "tampered.json", [], 0
    for change in tampered(content, lambda new: None):
        file.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        tried += 1
        with contextlib.suppress(UserError):
            replay(file)
            accepted.append(change)
    assert not accepted
    assert tried > 50
    file.write_text(json.dumps(content | {"digest": digest}), encoding="utf-8")
    replay(file)


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("draw", {"rho": "1", "rows": [["0", "1"], ["1", "0"]]}, "rho 1: expected a number above 0"),
        ("draw", {"best": 2}, "label 2: expected one of 0 to 1"),
        ("draw", {"rows": [["0", "1"], ["1"]]}, "expected 2 rows of 2 numbers"),
        ("draw", {"rows": "x"}, "malformed"),
        ("votes", {"edge": "1"}, "edge 1: expected a number in"),
        ("votes", {"ties": "lowest"}, "tie rule 'lowest': expected one of error, random"),
        ("votes", {"votes": [-1, 2]}, "expected at least 0"),
        ("votes", {"remaining": 1000}, "1000 to come: expected at most 100"),
        ("start", {"learners": 0}, "0 weak learners: expected 1 to"),
        ("slope", {"shares": ["1/2", "2"]}, "shares: expected numbers from 0 to 1"),
        ("slope", {"shares": ["0", "1/2"]}, "expected 1/2 at the predicted label"),
        ("gradient", {"weights": ["0", "1"]}, "expected numbers above 0"),
        ("edge", {"rounds": []}, "0 rounds: expected 1 to 50"),
        ("edge", {"rounds": [[["1", "2"], 0, 5]]}, "label 5: expected one of 0 to 1"),
        ("error", {"weights": ["2", "1"], "label": 0}, "the expert does not err"),
    ],
)  # fmt: skip
def test_malformed_instances_get_one_sentence(kind: str, data: dict[str, Any], words: str) -> None:
    right: dict[str, dict[str, Any]] = {
        "draw": {"rho": "1/2", "best": 0, "label": 0, "played": 0, "rows": [["0", "1"], ["1", "0"]]},
        "votes": {"edge": "0", "ties": "error", "votes": [1, 0], "label": 0, "remaining": 1},
        "start": {"n_labels": 2, "learners": 3, "edge": "0", "ties": "error"},
        "slope": {"rho": "1/2", "best": 0, "label": 0, "played": 0, "predicted": 0,
                  "shares": ["1/2", "1"]},
        "gradient": {},
        "edge": {},
        "error": {},
    }  # fmt: skip
    own = [kind for claim in map(catalog.claims().get, IDS) for kind in claim.judge.instances]
    if right[kind]:
        assert instances.from_json(kind, right[kind], own).to_json() == right[kind]
    with pytest.raises(UserError, match=words) as told:
        instances.from_json(kind, right[kind] | data, own)
    assert "\n" not in str(told.value)


# the exact mathematics against other ways to compute it


def test_the_extremes_of_estimates_are_those_over_all_vertices() -> None:
    """Rows of C^eor_1 with all cost on one label, and shares 0 or 1: linear functions have their extremes there."""
    for k, rho in product(
        (2, 3, 4), (Fraction(1, 10), Fraction(1, 2), Fraction(7, 10), Fraction(19, 20))
    ):
        largest = steepest = Fraction(0)
        vertices = [[i for i in range(k) if i != r] for r in range(k)]
        for label, played in product(range(2), range(k)):
            p = exact_boosting.exploration(0, rho, k)
            losses = exact_boosting.loss_estimate(0, label, played, p)
            for at in product(*vertices):
                rows = tuple(tuple(Fraction(i == a) for i in range(k)) for a in at)
                largest = max(largest, *map(abs, exact_boosting.estimate(losses, rows)))
            for predicted, ends in product(
                range(k), product((Fraction(0), Fraction(1)), repeat=k - 1)
            ):
                shares = (*ends[:predicted], Fraction(1, 2), *ends[predicted:])
                instance = SlopeInstance(rho, 0, label, played, predicted, shares)
                steepest = max(steepest, abs(instance.estimated(instance.slopes, played)))
        assert largest == estimates_bounded.cost_limit(k, rho)
        assert steepest == estimates_bounded.slope_limit(k, rho)


def test_k_squared_over_rho_is_enough_wherever_a_booster_may_explore() -> None:
    """For rho up to k/(k+1): learners.check_rate refuses what is beyond."""
    for k in range(2, 40):
        for n in range(1, 60):
            rho = Fraction(k, k + 1) * Fraction(n, 59)
            assert estimates_bounded.cost_limit(k, rho) <= k * k / rho
            assert estimates_bounded.slope_limit(k, rho) <= k * k / rho
            assert estimates_bounded.loss_limit(k, rho) <= k / rho


def test_potentials_by_counting_are_those_by_recursion() -> None:
    for k, learners, ties in product((2, 3, 4, 5), range(1, 8), ("error", "random")):
        for edge in (Fraction(0), Fraction(1, 7), Fraction(4, 5)):
            counted = exact_boosting.potential_at_start(k, learners, edge, ties)
            assert counted == exact_boosting.potential((0,) * k, 1, learners, edge, ties)


def test_potentials_are_the_mean_over_all_ballots() -> None:
    edge = Fraction(1, 5)
    for votes, ties in product(((0, 0, 1), (2, 1, 1), (1, 1)), ("error", "random")):
        k, mean = len(votes), Fraction(0)
        for ballot in product(range(k), repeat=4):
            final = [v + ballot.count(j) for j, v in enumerate(votes)]
            level = [j for j in range(1, k) if final[j] == final[0]]
            kept = Fraction(0 if level and ties == "error" else 1, 1 + len(level))
            lost = 1 if max(final) > final[0] else 1 - kept
            mean += lost * math.prod((1 - edge) / k + edge * (vote == 0) for vote in ballot)
        assert exact_boosting.potential(votes, 0, 4, edge, ties) == mean


def test_weights_stay_below_the_proved_bound_for_more_labels_than_are_enumerated() -> None:
    """(k-1) P(B in {m, m+1}), also where the root is exceeded: with 20 labels by half."""
    exceeded = 0.0
    for k, edge, ties in product((8, 20), (0.0, 0.1), ("error", "random")):
        made = potentials.Potentials(k, edge, ties)
        for cast, remaining in product(range(4), range(6)):
            chance = Fraction(repr(edge)) * (k - 1) / k + Fraction(1, k)
            most = (k - 1) * float(exact_boosting.two_likeliest(remaining, chance))
            largest = made.largest_weight(cast, remaining)
            assert largest <= most * (1 + 1e-9)
            exceeded = max(exceeded, largest * math.sqrt(remaining + 1) / (k - 1))
    assert 1.45 < exceeded < 1.55


def test_the_minimum_of_the_loss_is_enclosed_tightly() -> None:
    dice = np.random.default_rng(2)
    for k in (2, 3, 4):
        for _ in range(15):
            game = logistic_edge.EdgeInstance(
                tuple(logistic_edge._drawn(dice, k) for _ in range(4))
            )
            alphas = np.linspace(-2, 2, 2001)
            total = np.zeros(len(alphas))
            for weights, label, predicted in game.rounds:
                scores = np.tile(np.log([float(w) for w in weights]), (len(alphas), 1))
                before = logistic.loss(scores, label)
                scores[:, predicted] += alphas
                total += logistic.loss(scores, label) - before
            low, high = float(game.minimum.lo), float(game.minimum.hi)
            assert high - low < 1e-4
            assert low - 1e-12 <= total.min() <= high + 1e-5


def test_what_is_too_close_to_call_is_undecided() -> None:
    known = catalog.claims()["boosting/key-inequality"]

    def exact(instance: Any, form: Any) -> Any:
        enclosure = instance.minimum  # compared with a number inside
        return -enclosure, -enclosure * 1

    vague = replace(known, judge=replace(known.judge, exact=exact))
    found = decide(vague.judge.examine(Cell(vague, vague.forms[0], resolve(OLM3, 0)), 1))
    assert found.verdict == Verdict.UNDECIDED
    assert "too close to call" in found.evidence


def test_a_start_whose_bound_is_one_or_more_cannot_fail() -> None:
    assert not StartInstance(3, 4, Fraction(1, 10), "error").live
    assert StartInstance(3, 40, Fraction(1, 5), "error").live
    (row,) = rows_of("potential-at-start", MBBM4).values()
    assert row.verdict == Verdict.VACUOUS


def test_a_vote_ahead_of_three_others_weighs_nine_quarters() -> None:
    ahead = VotesInstance(Fraction(0), "error", (1, 0, 0, 0), 0, 1)
    assert ahead.costs == (0, *[Fraction(3, 4)] * 3)
    assert ahead.weight == Fraction(9, 4)
    assert not estimate_claims.unit_rows(2)[0][1][1]
