"""What weak learners need: a hypothesis that is good enough, and an algorithm that does almost as well as the best.

=========  =====================================================================
symbol     name here
=========  =====================================================================
h*         the planted hypothesis
2 gamma    ``richness`` of the stream
H          the class that a weak learner hedges over
R_delta    ln|H|/eta + eta B^2 T/8 + B sqrt(T ln(1/delta)/2)
=========  =====================================================================

Of R_delta the first two terms bound what the expected cost of Hedge exceeds that of the best hypothesis by, on every
path; the third is for its draws, as long as the estimates do not depend on the draw of their round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms.boosting.hedge import hedge_rate, learning_cost
from ....arrays import FloatArray
from ....errors import require
from ... import catalog
from ...certificates.instances import Json
from ...certificates.make import exact_certificate, statistical_certificate
from ...claim import BOOSTING, Claim, Form, Kind, Proof, Verdict
from ...exact.numbers import Interval, rational
from ...games.labels.case import Setting
from ...games.labels.run_sums import checkpoints
from ...games.weak.case import WeakCase
from ...games.weak.known import DELTA, edge_of, first_violation, hedging, planted_costs
from ...games.weak.play import play_rounds
from ...judges.pathwise import Curve, Outcome
from ...judges.weak_tail import WeakBound, examine_weak
from .weak_learning import RUNS, bandit_settings, full_settings


@dataclass(frozen=True)
class PlantedInstance:
    """What a hypothesis pays, round for round.

    Attributes
    ----------
    n_labels : k, at least 2
    gamma : in [0, 1/2]
    rounds : pairs of weight and cost, both in [0, 1]
    """

    n_labels: int
    gamma: mpq
    rounds: tuple[tuple[mpq, mpq], ...]
    kind: ClassVar[str] = "planted"

    def __post_init__(self) -> None:
        require(self.n_labels >= 2, f"{self.n_labels} labels: expected at least 2.")
        require(0 <= 2 * self.gamma <= 1, f"gamma {self.gamma}: expected a number in [0, 1/2].")
        require(len(self.rounds) > 0, "the certificate has no rounds.")
        for number in (n for pair in self.rounds for n in pair):
            require(0 <= number <= 1, f"weight or cost {number}: expected a number in [0, 1].")

    @classmethod
    def from_json(cls, data: Any) -> PlantedInstance:
        rounds = tuple((rational(w), rational(c)) for w, c in data["rounds"])
        return cls(int(data["n_labels"]), rational(data["gamma"]), rounds)

    def to_json(self) -> Json:
        rounds = [[str(w), str(c)] for w, c in self.rounds]
        return {"n_labels": self.n_labels, "gamma": str(self.gamma), "rounds": rounds}

    @property
    def paid(self) -> mpq:
        """sum w c."""
        return sum((w * c for w, c in self.rounds), mpq(0))

    @property
    def allowed(self) -> mpq:
        """(1 - 2 gamma)/k sum w."""
        return (1 - 2 * self.gamma) / self.n_labels * sum((w for w, _ in self.rounds), mpq(0))

    @property
    def derived(self) -> Json:
        return {
            "horizon": len(self.rounds),
            "paid": [str(w * c) for w, c in self.rounds],
            "weights": str(sum((w for w, _ in self.rounds), mpq(0))),
            "costs": str(sum((c for _, c in self.rounds), mpq(0))),
        }

    def simpler(self) -> Iterator[PlantedInstance]:
        return iter(())


def _sides(instance: PlantedInstance, form: Form) -> tuple[Interval, Interval]:
    return Interval.of(instance.paid), Interval.of(instance.allowed)


def examine_richness(
    claim: Claim, form: Form, case: WeakCase, replicates: int, *, interpreted: bool = False
) -> Outcome:
    """Add up what the planted hypothesis pays, in fractions, and compare after every round."""
    stream = case.stream
    at = first_violation(stream)
    last = stream.horizon - 1 if at is None else at
    rounds = tuple(planted_costs(stream)[: last + 1])
    instance = PlantedInstance(stream.n_labels, edge_of(stream), rounds)
    paid, allowed = float(instance.paid), float(instance.allowed)
    found = Outcome(Verdict.HOLDS, paid, allowed, paid / allowed if allowed else None)
    found.rounds, found.runs = stream.horizon, 1
    found.evidence = f"in fractions, after each of {stream.horizon} rounds"
    if at is not None:
        found.verdict = Verdict.REFUTED
        found.evidence = f"certified: after {at + 1} rounds"
        found.certificate = exact_certificate(claim, form, instance)
    return found


def _planted(case: WeakCase) -> str | None:
    return None if case.stream.planted is not None else "the stream has no planted hypothesis"


POOR = "planted-stump:right=5"
"""A stump that is right in five of ten rounds, and said to be better."""


def _rich_settings() -> tuple[Setting, ...]:
    games = [s for s in (*full_settings(), *bandit_settings()) if s.learner != "oracle-noise"]
    return (*games, Setting("hedge-stump", POOR, "full", 1000, replicates=RUNS))


RICHNESS = Claim(
    id="boosting/richness",
    title="a hypothesis is good enough",
    source=BOOSTING.at("Online Richness Condition"),
    kind=Kind.EXACT,
    about="weak learners",
    forms=(
        Form(
            "printed",
            r"\sum_{t\le T} w_t c_{t,h^*(x_t)} \le \frac{1-2\gamma}{k}\sum_{t\le T} w_t"
            r" \quad\text{for each } T",
            Proof.ASSUMED,
            "a hypothesis of the theorem that makes weak learners, checked on each stream; false where the stump"
            " is right in half of the rounds",
            _planted,
            lambda case: Verdict.REFUTED if case.setting.adversary == POOR else Verdict.HOLDS,
        ),
    ),
    cases=_rich_settings,
    certify=_sides,
    instances=(PlantedInstance,),
    examine=examine_richness,
)


def _costs_of_best(crowd: Any) -> FloatArray:
    """Cost so far of the best hypothesis of each weak learner, shape (R,)."""
    costs: FloatArray = crowd.costs
    totals = costs if costs.ndim == 2 else costs.min(axis=3).sum(axis=2)
    least: FloatArray = totals.min(axis=1)
    return least


def _expected(crowd: Any, x: FloatArray, shown: FloatArray) -> FloatArray:
    """What the draw of each weak learner would cost in the mean, of what is shown, shape (R,)."""
    p: FloatArray = crowd.probabilities(x)
    of_choices = shown if crowd.costs.ndim == 4 else shown[:, crowd.labels(x)]
    found: FloatArray = (p * of_choices).sum(axis=1)
    return found


def regrets(case: WeakCase, replicates: int, first: int) -> tuple[FloatArray, FloatArray]:
    """What the costs shown of the draws, and their means, exceed those of the best hypothesis by; both (R, T)."""
    key = ("regrets", first, replicates)
    if key not in case.played:
        drawn, mean, best = np.empty((3, replicates, case.horizon))
        crowd: Any = None
        rows = np.arange(replicates)
        for found in play_rounds(case, range(first, first + replicates)):
            crowd, t = found.crowd, found.index
            if t:
                best[:, t - 1] = _costs_of_best(crowd)
            shown = found.weights[:, None] * found.shown
            drawn[:, t] = shown[rows, found.predicted]
            mean[:, t] = _expected(crowd, found.features, shown)
        best[:, -1] = _costs_of_best(crowd)
        case.played[key] = (drawn.cumsum(axis=1) - best, mean.cumsum(axis=1) - best)
    both: tuple[FloatArray, FloatArray] = case.played[key]
    return both


def learning(case: WeakCase) -> FloatArray:
    """ln|H|/eta + eta B^2 t/8 after each round, shape (T,)."""
    hedge = hedging(case.learner, case.problem)
    assert hedge is not None
    size, rate = hedge
    rounds = np.arange(1, case.horizon + 1)
    return learning_cost(size, rate) + rate * case.problem.cost_range**2 * rounds / 8


def _regret_bound(case: WeakCase) -> WeakBound:
    B = case.problem.cost_range
    rounds = np.arange(1, case.horizon + 1)
    envelope = learning(case) + B * np.sqrt(rounds * math.log(1 / DELTA) / 2)
    return WeakBound(
        DELTA, envelope, B * case.horizon, math.inf, f"R_delta(T) = {envelope[-1]:.6g}"
    )


ROUNDING = 1e-9
"""Share of the envelope, or of the range of costs where that is more, granted to rounding in sums of some thousand
terms."""


def examine_means(
    claim: Claim, form: Form, case: WeakCase, replicates: int, *, interpreted: bool = False
) -> Outcome:
    """Look at the regret of the expected costs after every round of every run."""
    regret, envelope = regrets(case, replicates, 0)[1], learning(case)
    run, at = np.unravel_index(int((regret - envelope).argmax()), regret.shape)
    worst, top = int(regret[:, -1].argmax()), float(envelope[-1])
    marks = checkpoints(case.horizon)
    found = Outcome(
        Verdict.HOLDS,
        float(regret[worst, -1]),
        top,
        float(regret[worst, -1] / top) if top > 0 else None,  # one hypothesis: 0 against 0
        runs=replicates,
        rounds=regret.size,
        evidence=f"after each of {case.horizon} rounds of {replicates} runs",
        curve=Curve.of_paths(marks, regret[:, marks - 1], envelope[marks - 1]),
    )
    if regret[run, at] > envelope[at] + ROUNDING * max(envelope[at], case.problem.cost_range):
        values = (float(regret[run, at]), float(envelope[at]))
        found.verdict = Verdict.REFUTED
        found.evidence = f"run {run} after {at + 1} rounds"
        numbers = {"observed": [repr(x) for x in regret[:, -1].tolist()], "round": int(at)}
        found.certificate = statistical_certificate(
            claim, form, case, replicates, values, found.evidence, numbers
        )
    return found


def _hedges(case: WeakCase) -> str | None:
    if hedging(case.learner, case.problem) is None:
        return "it is about weak learners that hedge over a class"
    return None


def _apart(case: WeakCase) -> str | None:
    if case.graph == "bandit" and case.stream.noise.follows:
        return "the estimates depend on the draw of their round"
    return _hedges(case)


def _of_draws(case: WeakCase, replicates: int, first: int) -> FloatArray:
    return regrets(case, replicates, first)[0]


@cache
def regret_settings() -> tuple[Setting, ...]:
    """Hedge at the rate of the least regret, on rich streams and on others, shown costs and estimates."""
    return tuple(
        _tuned(learner, adversary, graph, 1000)
        for learner, adversary, graph in (
            ("hedge-stump", "planted-stump", "full"),
            ("hedge-stump", POOR, "full"),
            ("hedge-stump", "tilted-weights", "bandit"),
            ("hedge-stump", "following-costs:noise=two-point+size=0.5", "bandit"),
            ("hedge-stump", "planted-stump", "bandit"),
            ("hedge-advice", "planted-advice:noise=push+size=1", "bandit"),
        )
    )


def _tuned(learner: str, adversary: str, graph: str, horizon: int) -> Setting:
    made, stream = catalog.learner(learner), catalog.adversary(adversary).stream(16, 0)
    size = made.n_hypotheses(stream.n_features, stream.n_labels)
    rate = hedge_rate(size, stream.cost_range(graph), horizon)
    return Setting(f"{learner}:rate={rate:.4g}", adversary, graph, horizon, replicates=RUNS)


AGNOSTIC_REGRET = Claim(
    id="boosting/agnostic-regret",
    title="expected costs of Hedge against the best hypothesis",
    source=BOOSTING.at("Online Agnostic Learnability Condition; R of Hedge derived here"),
    kind=Kind.PATHWISE,
    about="weak learners",
    forms=(
        Form(
            "derived",
            r"\sum_{t\le T} w_t\, p_t\cdot\hat c_t - \min_{h\in H}\sum_{t\le T} w_t\hat c_{t,h(x_t)}"
            r" \le \frac{\ln|H|}{\eta} + \frac{\eta B^2T}{8} \quad\text{for each } T",
            Proof.PROVED,
            "true of every sequence of costs, adaptive ones too",
            _hedges,
        ),
    ),
    cases=regret_settings,
    examine=examine_means,
)

AGNOSTIC_LEARNABILITY = Claim(
    id="boosting/agnostic-learnability",
    title="costs of Hedge against the best hypothesis",
    source=BOOSTING.at("Online Agnostic Learnability Condition; R of Hedge derived here"),
    kind=Kind.TAIL,
    about="weak learners",
    forms=(
        Form(
            "derived",
            r"\sum_{t\le T} w_t\hat c_{t,l_t} \le \min_{h\in H}\sum_{t\le T} w_t\hat c_{t,h(x_t)} + R_\delta(T),"
            r" \quad R_\delta(T) = \frac{\ln|H|}{\eta} + \frac{\eta B^2T}{8}"
            r" + B\sqrt{\tfrac{T}{2}\ln\tfrac{1}{\delta}} \quad\text{with probability } 1-\delta",
            Proof.PROVED,
            "the draws of Hedge add a martingale with increments of range B",
            _apart,
            names=("regret of the predictions", "R_delta(T)"),
        ),
    ),
    cases=regret_settings,
    examine=partial(examine_weak, _of_draws, _regret_bound),
)
