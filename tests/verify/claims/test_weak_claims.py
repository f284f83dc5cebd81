"""Claims about weak learners: what is known of them, what refutes, and exact sides against a second derivation."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from without_numba import replay_without_numba

from boundcheck.adversaries.weak_learning.noise import Pair
from boundcheck.algorithms.boosting import hedge
from boundcheck.algorithms.boosting.advice import HedgeAdvice
from boundcheck.algorithms.boosting.hedge import hedge_excess_loss
from boundcheck.algorithms.boosting.problem import WeakDeclaration, WeakProblem
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.boosting import derivation, excess_loss, richness, weak_learning
from boundcheck.verify.games.weak.case import Case
from boundcheck.verify.games.weak.game import WEAK
from boundcheck.verify.games.weak.play import play_rounds, play_runs
from boundcheck.verify.games.weak.user_learner import UserWeakLearner
from boundcheck.verify.outcome import Certificate, Verdict, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

WLC = ("boosting/bandit-wlc", "boosting/online-wlc")
ALL = (*WLC, *(f"{name}-anytime" for name in WLC))


class Guess:
    """Always says the same label, and declares an edge."""

    edge, delta, excess_loss, anytime = 0.3, 0.05, 5.0, True

    def __init__(self, problem: WeakProblem) -> None:
        self.problem = problem

    def predict(self, x: np.ndarray) -> int:
        return 1

    def update(self, x: np.ndarray, cost: np.ndarray, weight: float) -> None:
        pass


def judged(setting: Setting, *claims: str, users: bool = False, runs: int | None = None) -> Any:
    return suite.judge_job(suite.Job(setting, claims, users, runs), 0)


def cased(setting: Setting, seed: int = 0) -> Case:
    found = resolve(setting, seed)
    assert isinstance(found, Case)
    return found


def test_the_known_excess_loss_is_that_of_the_weak_learner_at_its_own_rate() -> None:
    problem = WeakProblem(3, 4, 1000, 0.3, 0.5, 2.0)
    rate = hedge.anytime_rate(0.3, 0.5, 2.0, 3)
    size = hedge.HedgeStump.n_hypotheses(4, 3)
    known = hedge_excess_loss(size, rate, problem, 0.05)
    learning, luck = math.log(size) * 2.0**2, (1 + 2 * 2.0) ** 2 * math.log(20)
    assert known == pytest.approx((learning + luck) * 3 / (4 * 0.3 * 0.5))
    assert hedge_excess_loss(size, 2 * rate, problem, 0.05) is None, "nothing of the drift is left"
    assert hedge_excess_loss(size, rate / 2, problem, 0.05) is not None


def test_known_numbers_are_those_of_the_declared_parameters() -> None:
    case = cased(Setting("oracle-noise", "even-costs:edge=0.4", "bandit", 100))
    loss = 3 * math.log(20) / 1.6
    assert case.word.excess_loss == pytest.approx(loss)
    assert replace(case.word, excess_loss=1.0) == WeakDeclaration(
        0.2, 0.05, 1.0, True, "oracle-noise"
    )
    for learner, adversary, told in (
        ("oracle-noise", "planted-stump", "no predictions for oracles"),
        ("cost-perceptron", "planted-stump", "no excess loss is known of cost-perceptron"),
        ("hedge-advice", "planted-stump:n_labels=4", "no hypothesis of hedge-advice"),
        ("hedge-stump", "planted-advice", "no hypothesis of hedge-stump"),
        ("hedge-stump", "planted-stump:right=5", "richness fails"),
        ("hedge-stump:rate=9", "planted-stump", "the rate of hedge-stump:rate=9"),
    ):
        found = cased(Setting(learner, adversary, "bandit", 100)).declaration
        assert isinstance(found, str)
        assert told in found


@pytest.mark.parametrize(
    "setting",
    [
        replace(weak_learning.full_settings()[0], runs=64),
        replace(weak_learning.bandit_settings()[3], runs=64),
        replace(weak_learning.bandit_settings()[-1], runs=64),
    ],
    ids=lambda setting: setting.key,
)
def test_weak_learners_keep_their_word(setting: Setting) -> None:
    rows = judged(setting, *ALL)
    assert {row.form: row.verdict for row in rows} == dict.fromkeys(
        ("reconstructed", "derived"), Verdict.HOLDS
    )
    assert not any(row.outcome.flags for row in rows), "a guesser would not pass"


def test_a_false_word_is_refuted_after_a_few_runs_and_played_again(tmp_path: Path) -> None:
    spec = f"{Path(__file__)}:Guess"
    setting = Setting(spec, "planted-stump", "bandit", 60)
    rows = judged(setting, WLC[0], f"{WLC[0]}-anytime", users=True, runs=64)
    assert [row.verdict for row in rows] == [Verdict.REFUTED] * 2
    assert all(row.surprising and row.outcome.runs == 8 for row in rows)
    certificate = rows[0].outcome.certificate
    replay(certificate.write(tmp_path), trust=True)
    assert len(list(damaged(certificate, tmp_path))) > 20


def test_an_oracle_is_held_to_its_edge() -> None:
    """With half of the edge that its word needs, an oracle exceeds S."""
    case = cased(Setting("oracle-noise", "even-costs:edge=0.4", "full", 800))
    word = case.word
    weaker = cased(Setting("oracle-noise", "even-costs:edge=0.02", "full", 800))
    runs = play_runs(weaker, range(64))
    assert (runs.largest(word.edge) > word.excess_loss).mean() > 0.9
    assert (play_runs(case, range(64)).largest(word.edge) > word.excess_loss).mean() < word.delta


def test_a_word_about_one_horizon_is_not_judged_for_all_of_them() -> None:
    class Modest(Guess):
        anytime = False

    learner = UserWeakLearner(Modest, "Modest")
    rows = judged(Setting(learner, "planted-stump", "bandit", 60), *ALL[::2], users=True, runs=8)
    assert [row.verdict for row in rows] == [Verdict.NOT_APPLICABLE, Verdict.REFUTED]
    assert "anytime" in rows[0].outcome.evidence


def test_an_excess_loss_that_nobody_can_have_is_vacuous() -> None:
    rows = judged(Setting("hedge-stump:rate=0.05", "planted-stump", "bandit", 200), *ALL)
    assert {row.verdict for row in rows} == {Verdict.VACUOUS}


def test_claims_are_about_one_kind_of_learner() -> None:
    weak = judged(
        Setting("hedge-stump", "planted-stump", "full", 20), "game/no-peeking", users=True
    )
    strong = judged(Setting("perceptron", "one-hot", "full", 20), WLC[0], users=True)
    for rows, told in (
        (weak, "it is about other learners: those that play labels"),
        (strong, "it is about other learners: weak ones"),
    ):
        assert {row.verdict for row in rows} == {Verdict.NOT_APPLICABLE}
        assert all(told in row.outcome.evidence for row in rows)


def test_the_regret_is_that_of_every_hypothesis_written_out() -> None:
    """Hedge over the stumps one by one, on one run."""
    setting = Setting("hedge-stump:rate=0.3", "following-costs:noise=push+size=1", "bandit", 40)
    case = cased(setting, 1)
    k, d = 3, 4
    stumps = list(itertools.product(range(d), range(k), range(k)))
    totals, drawn, mean = np.zeros(len(stumps)), 0.0, 0.0
    regrets = richness.regrets(cased(setting, 1), range(1))
    for found in play_rounds(case, range(1)):
        said = [(low, high)[int(found.features[j] > 0)] for j, low, high in stumps]
        shares = np.exp(-0.3 * (totals - totals.min()))
        shown = found.weights[0] * found.shown[0]
        drawn += shown[found.predicted[0]]
        mean += shares @ shown[said] / shares.sum()
        totals = totals + shown[said]
        at = found.index
        assert regrets[0][0, at] == pytest.approx(drawn - totals.min())
        assert regrets[1][0, at] == pytest.approx(mean - totals.min())
    assert richness.learning(case)[-1] == pytest.approx(
        math.log(36) / 0.3 + 0.3 * case.problem.cost_range**2 * 40 / 8
    )


def test_the_bound_on_the_regret_is_that_of_the_weak_learner() -> None:
    setting = richness.regret_settings()[0]
    case = cased(setting, 0)
    bound = richness.regret_limit(case)
    size, half = case.problem.cost_range, math.sqrt(case.horizon / 2)
    wanted = size * half * (math.sqrt(math.log(36)) + math.sqrt(math.log(20)))
    assert bound.envelope[-1] == pytest.approx(wanted, rel=1e-4), "the rate is written in 4 digits"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("learner", ["hedge-advice", "hedge-advice:rate=0.2"])
def test_one_hypothesis_has_nothing_to_learn(learner: str) -> None:
    setting = Setting(learner, "planted-advice:n_features=1,noise=two-point", "bandit", 60)
    case = cased(setting, 0)
    rate = 0.2 if "rate" in learner else 0.0
    left = case.problem.edge / 3 - rate * case.problem.cost_range**2 / 8
    luck = (1 + 2 * case.problem.cost_range) ** 2 * math.log(20) / (8 * left)
    assert hedge_excess_loss(1, rate, case.problem, 0.05) == (luck if left > 0 else None)
    assert richness.learning(case)[-1] == rate * case.problem.cost_range**2 * 60 / 8
    claims = ("boosting/agnostic-regret", "boosting/bandit-wlc-anytime")
    verdicts = {row.claim: row.verdict for row in judged(setting, *claims, users=True, runs=4)}
    assert verdicts[claims[0]] == Verdict.HOLDS
    assert verdicts[claims[1]] in (Verdict.VACUOUS, Verdict.NOT_APPLICABLE)


def test_hedge_that_climbs_is_refuted_by_its_regret(monkeypatch: pytest.MonkeyPatch) -> None:
    """It follows who paid most, and declares its rate all the same."""
    right = HedgeAdvice.crowd

    def climbing(self: HedgeAdvice, setting: Any) -> Any:
        crowd = right(self, setting)
        crowd.parameters = -crowd.parameters
        return crowd

    monkeypatch.setattr(HedgeAdvice, "crowd", climbing)
    setting = richness._tuned("hedge-advice", "planted-advice", "full", 400)
    rows = judged(
        replace(setting, runs=16),
        "boosting/agnostic-regret",
        "boosting/agnostic-learnability",
    )
    assert {row.verdict for row in rows} == {Verdict.REFUTED}
    assert all(row.outcome.certificate for row in rows)


def test_the_law_of_the_worst_pair_is_binomial() -> None:
    """Every sequence of signs, against the game's own noise and against the sums."""
    case = cased(Setting("oracle-noise", "worst-pair", "bandit", 6))
    assert case.stream.noise == Pair(1.0)
    steps = set()
    for found in play_rounds(case, range(16)):
        label, planted = found.predicted, case.stream.planted[found.index]
        rows = np.arange(16)
        assert (label != planted).all()
        errors = found.costs - found.shown
        steps |= set((errors[rows, label] - errors[:, planted]).round(12).tolist())
    assert steps == {-2.0, 2.0}
    for T, delta, factor in itertools.product(range(1, 9), (0.01, 0.05, 0.3), (1, 2)):
        level = factor * math.sqrt(2 * T * math.log(1 / delta))
        sums = [sum(signs) for signs in itertools.product((-2, 2), repeat=T)]
        wanted = Fraction(sum(total > level for total in sums), 2**T)
        found = derivation.PairInstance(T, Fraction(str(delta))).probability(factor)
        assert found == wanted


@pytest.mark.parametrize(("delta", "least"), [("0.01", 3), ("0.05", 2)])
def test_the_smallest_false_pairs_are_the_smallest(delta: str, least: int) -> None:
    form = derivation.DERIVATION.form("reconstructed")
    false = [
        T
        for T in range(1, 60)
        for observed, allowed in [
            derivation._pair_sides(derivation.PairInstance(T, Fraction(delta)), form)
        ]
        if observed > allowed
    ]
    assert false[0] == least
    assert false == (list(range(3, 60)) if delta == "0.01" else [2, 5, 10, 15, 24])
    assert not {T for d, T in derivation.TRUE_PAIRS if d == float(delta)} & set(false)


def test_the_order_against_all_integers_and_floats() -> None:
    instance = excess_loss.OrderInstance(
        3, Fraction(1, 2), Fraction(1), Fraction(1, 20), Fraction(3, 4)
    )
    rounds = np.arange(1, 5000)
    values = 4 * np.sqrt(2 * rounds * math.log(20)) - rounds / 6
    assert instance.longest == rounds[values.argmax()]
    assert float(instance.excess_loss) == pytest.approx(values.max())
    assert float(instance.limit) == pytest.approx(16 * math.log(20) * 3)
    laws = [
        excess_loss.estimate_errors(3, Fraction(3, 4), *labels)
        for labels in itertools.product(range(3), repeat=3)
    ]
    moments = [
        sum(
            float(p) * math.exp(float((d - instance.drift) / instance.inverse_rate)) for p, d in law
        )
        for law in laws
    ]
    assert float(instance.growth) == pytest.approx(max(moments))
    assert all(sum(p for p, _ in law) == 1 for law in laws)
    assert all(sum(p * d for p, d in law) == 0 for law in laws)
    halved = replace(instance, rho=instance.rho / 2)
    ratio = float(halved.excess_loss) / float(instance.excess_loss)
    assert ratio == pytest.approx(4, rel=1e-4)


def test_a_smaller_excess_loss_breaks_the_supermartingale() -> None:
    """The check of the variance form has power: a rate three times as large is found out."""

    numbers = (5, Fraction(3, 10), Fraction(1), Fraction(1, 20), Fraction(1, 10))
    right, hasty = (excess_loss.OrderInstance(*numbers) for _ in range(2))
    assert right.growth < 1
    hasty.__dict__["inverse_rate"] = right.inverse_rate / 3
    assert hasty.growth > 1


EXACT = {
    "richness": (Setting("hedge-stump", richness.POOR, "full", 100), "boosting/richness"),
    "pair": (derivation.pair_settings()[0], "boosting/wlc-derivation"),
    "order": (excess_loss.order_settings()[0], "boosting/excess-loss-order"),
}


def refutation(name: str) -> Certificate:
    setting, claim = EXACT[name]
    rows = [row for row in judged(setting, claim) if row.form != "repaired"]
    assert [(row.verdict, row.expected) for row in rows] == [(Verdict.REFUTED, Verdict.REFUTED)]
    certificate = rows[0].outcome.certificate
    assert certificate is not None
    return certificate


def test_a_poor_stump_is_told_by_numbers_that_a_reader_can_check() -> None:
    """gamma as in the statement, twice the edge of the adversary; (1 - gamma)/k by hand."""
    content = refutation("richness").content
    instance = content["instance"]
    assert (instance["gamma"], instance["n_labels"]) == ("3/5", 3)
    paid = sum(Fraction(w) * Fraction(c) for w, c in instance["rounds"])
    allowed = Fraction(4, 30) * len(instance["rounds"])
    assert {w for w, _ in instance["rounds"]} == {"1"}
    assert paid > allowed
    assert float(content["derived"]["costs"]) == paid


def changed(value: Any) -> Iterator[Any]:
    """The value with one number in it changed, once for each."""
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            for other in changed(value[key]):
                copy = deepcopy(value)
                copy[key] = other
                yield copy
    elif isinstance(value, int | float):
        yield value + 1
    elif isinstance(value, str) and value[:1] in "-0123456789":
        yield "1" + value


def damaged(certificate: Certificate, folder: Path) -> Iterator[Path]:
    """Files with one number changed and a digest that fits; each is rejected."""
    for i, content in enumerate(changed(certificate.content)):
        path = folder / f"damaged-{i}.json"
        path.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        with pytest.raises(UserError):
            replay(path, trust=True)
        yield path


@pytest.mark.parametrize("name", EXACT)
def test_exact_refutations_are_accepted_and_rejected_when_altered(
    name: str, tmp_path: Path
) -> None:
    certificate = refutation(name)
    replay(certificate.write(tmp_path), trust=True)
    assert len(list(damaged(certificate, tmp_path))) >= 8


def test_exact_refutations_need_no_compiler(tmp_path: Path) -> None:
    found = replay_without_numba(refutation(name).write(tmp_path) for name in EXACT)
    assert len(found) == len(EXACT)


def test_every_claim_about_weak_learners_has_settings_of_its_game() -> None:
    found = [claim for claim in catalog.claims().values() if claim.game == WEAK.name]
    assert len(found) >= 11
    for claim in found:
        for setting in claim.cases():
            learner, adversary = setting.learner.split(":")[0], setting.adversary.split(":")[0]
            assert learner in WEAK.learners()
            assert adversary in WEAK.adversaries()


def test_no_name_means_two_things() -> None:
    others = [game for game in catalog.games().values() if game is not WEAK]
    for game in others:
        assert not game.learners().keys() & WEAK.learners().keys()
        assert not game.adversaries().keys() & WEAK.adversaries().keys()
