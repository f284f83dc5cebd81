"""The hypotheses of weak learning: a rule that is good enough, and an algorithm that does almost as well as the best.

=========  =====================================================================
symbol     name here
=========  =====================================================================
h*         the planted hypothesis
gamma      ``richness`` of the stream
H          the class that a weak learner hedges over
R_delta    ln|H|/eta + eta B^2 T/8 + B sqrt(T ln(1/delta)/2)
=========  =====================================================================

Of R_delta the first two terms bound what the expected cost of Hedge exceeds that of the best hypothesis by, on every
path; the third is for its draws, as long as the estimates do not depend on the draw of their round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms.boosting.hedge import hedge_rate, learning_cost
from ....algorithms.boosting.problem import DELTA
from ....arrays import FloatArray
from ....errors import require
from ... import catalog
from ...author import Audit, Cell, Claim, Evidence, Form, Interval, Kind, Proof, Setting, Verdict
from ...certificates.instances import Instance, Json
from ...certificates.make import exact_certificate, statistical_certificate
from ...games.game import checkpoints
from ...games.weak.case import Case
from ...games.weak.play import play_rounds
from ...outcome import Curve
from ..papers import BOOSTING
from .weak_learning import RUNS, Limit, bandit_settings, full_settings, tail


@dataclass(frozen=True)
class PlantedInstance(Instance):
    """The costs of a hypothesis, round for round.

    Attributes
    ----------
    n_labels : k, at least 2
    gamma : the edge that the hypothesis is to have, in [0, 1]
    rounds : pairs of weight and cost, both in [0, 1]
    """

    n_labels: int
    gamma: mpq
    rounds: tuple[tuple[mpq, mpq], ...]
    kind: ClassVar[str] = "planted"

    def __post_init__(self) -> None:
        require(self.n_labels >= 2, f"{self.n_labels} labels: expected at least 2.")
        require(0 <= self.gamma <= 1, f"gamma {self.gamma}: expected a number in [0, 1].")
        require(len(self.rounds) > 0, "the certificate has no rounds.")
        for number in (n for pair in self.rounds for n in pair):
            require(0 <= number <= 1, f"weight or cost {number}: expected a number in [0, 1].")

    @property
    def paid(self) -> mpq:
        """sum w c."""
        return sum((w * c for w, c in self.rounds), mpq(0))

    @property
    def allowed(self) -> mpq:
        """sum w c . u_gamma, which is (1 - gamma)/k sum w."""
        return (1 - self.gamma) / self.n_labels * sum((w for w, _ in self.rounds), mpq(0))

    @property
    def derived(self) -> Json:
        return {
            "horizon": len(self.rounds),
            "paid": [str(w * c) for w, c in self.rounds],
            "weights": str(sum((w for w, _ in self.rounds), mpq(0))),
            "costs": str(sum((c for _, c in self.rounds), mpq(0))),
        }


def _sides(instance: PlantedInstance, form: Form) -> tuple[Interval, Interval]:
    return Interval.of(instance.paid), Interval.of(instance.allowed)


def look_at_planted(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Add up what the planted hypothesis pays, in fractions, and compare after every round."""
    stream = cell.case.stream
    at = stream.first_violation()
    last = stream.horizon - 1 if at is None else at
    rounds = tuple(stream.planted_costs()[: last + 1])
    instance = PlantedInstance(stream.n_labels, 2 * stream.planted_edge, rounds)
    paid, allowed = float(instance.paid), float(instance.allowed)
    words = f"in fractions, after each of {stream.horizon} rounds"
    return Evidence(
        paid,
        allowed,
        ratio=paid / allowed if allowed else None,
        refutes=at is not None,
        says=words if at is None else f"certified: after {at + 1} rounds",
        certify=lambda: exact_certificate(cell.claim, cell.form, instance),
        runs=1,
        rounds=stream.horizon,
    )


def _planted(case: Case) -> str | None:
    return None if case.stream.planted is not None else "the stream has no planted hypothesis"


POOR = "planted-stump:right=5"
"""A stump that is right in five of ten rounds, and said to be better."""


def _rich_settings() -> tuple[Setting, ...]:
    games = [s for s in (*full_settings(), *bandit_settings()) if s.learner != "oracle-noise"]
    return (*games, Setting("hedge-stump", POOR, "full", 1000, runs=RUNS))


RICHNESS = Claim(
    id="boosting/richness",
    title="a hypothesis is good enough",
    source=BOOSTING.at("Online Richness Condition"),
    game="weak-learning",
    forms=(
        Form(
            "printed",
            r"\sum_{t\le T} w_t c_{t,h(x_t)} \le \sum_{t\le T} w_t c_t\cdot u^{y_t}_\gamma"
            r" \quad\text{for some } h \in H\text{, here } h^*\text{; for each } T",
            Proof.ASSUMED,
            "a hypothesis of the theorem that makes weak learners, checked of the planted rule on each stream; false"
            " of the stump that is right in half of the rounds",
            _planted,
            lambda case: Verdict.REFUTED if case.setting.adversary == POOR else Verdict.HOLDS,
            adaptive=True,
        ),
    ),
    judge=Audit(look_at_planted, exact=_sides, instances=(PlantedInstance,)),
    cases=_rich_settings,
)


def regrets(case: Case, runs: range, *, interpreted: bool = False) -> tuple[FloatArray, FloatArray]:
    """The regrets of the draws and of their means against the best hypothesis, by the costs shown; both (R, T)."""
    key = ("regrets", runs)
    if key not in case.kept:
        drawn, mean, best = np.empty((3, len(runs), case.horizon))
        learner, crowd = case.learner, None
        rows = np.arange(len(runs))
        for found in play_rounds(case, runs, interpreted=interpreted):
            crowd, t = found.crowd, found.index
            if t:
                best[:, t - 1] = learner.least_costs(crowd)
            shown = found.weights[:, None] * found.shown
            drawn[:, t] = shown[rows, found.predicted]
            mean[:, t] = learner.mean_costs(crowd, found.features, shown)
        best[:, -1] = learner.least_costs(crowd)
        case.kept[key] = (drawn.cumsum(axis=1) - best, mean.cumsum(axis=1) - best)
    both: tuple[FloatArray, FloatArray] = case.kept[key]
    return both


def learning(case: Case) -> FloatArray:
    """ln|H|/eta + eta B^2 t/8 after each round, shape (T,)."""
    size, rate = case.learner.hedges(case.problem)
    rounds = np.arange(1, case.horizon + 1)
    found: FloatArray = learning_cost(size, rate) + rate * case.problem.cost_range**2 * rounds / 8
    return found


def regret_limit(case: Case) -> Limit:
    """R_delta after each round; a guesser may reach it."""
    B = case.problem.cost_range
    rounds = np.arange(1.0, case.horizon + 1)
    envelope = learning(case) + B * np.sqrt(rounds * math.log(1 / DELTA) / 2)
    return Limit(DELTA, envelope, B * rounds, math.inf, f"R_delta(T) = {envelope[-1]:.6g}")


ROUNDING = 1e-9
"""Share of the envelope, or of the range of costs where that is more, granted to rounding in sums of some thousand
terms."""


def look_at_means(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Look at the regret of the expected costs after every round of every run."""
    case = cell.case
    regret = regrets(case, range(runs), interpreted=interpreted)[1]
    envelope = learning(case)
    run, at = np.unravel_index(int((regret - envelope).argmax()), regret.shape)
    worst, top = int(regret[:, -1].argmax()), float(envelope[-1])
    marks = checkpoints(case.horizon)
    found = Evidence(
        float(regret[worst, -1]),
        top,
        ratio=float(regret[worst, -1] / top) if top > 0 else None,  # one hypothesis: 0 against 0
        says=f"after each of {case.horizon} rounds of {runs} runs",
        runs=runs,
        rounds=regret.size,
        curve=Curve.of_paths(marks, regret[:, marks - 1], envelope[marks - 1]),
    )
    if regret[run, at] > envelope[at] + ROUNDING * max(envelope[at], case.problem.cost_range):
        values = (float(regret[run, at]), float(envelope[at]))
        found.refutes = True
        found.says = words = f"run {run} after {at + 1} rounds"
        numbers = {"observed": [repr(x) for x in regret[:, -1].tolist()], "round": int(at)}
        found.certify = lambda: statistical_certificate(cell, runs, values, words, numbers)
    return found


def _hedges(case: Case) -> str | None:
    if not hasattr(case.learner, "hedges"):
        return "it is about weak learners that hedge over a class"
    return None


def _apart(case: Case) -> str | None:
    if case.graph == "bandit" and case.stream.noise.follows:
        return "the estimates depend on the draw of their round"
    return _hedges(case)


def _of_draws(case: Case, runs: range, interpreted: bool) -> FloatArray:
    return regrets(case, runs, interpreted=interpreted)[0]


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
    return Setting(f"{learner}:rate={rate:.4g}", adversary, graph, horizon, runs=RUNS)


AGNOSTIC_REGRET = Claim(
    id="boosting/agnostic-regret",
    title="expected costs of Hedge against the best hypothesis",
    source=BOOSTING.at("Online Agnostic Learnability Condition; R of Hedge derived here"),
    game="weak-learning",
    forms=(
        Form(
            "derived",
            r"\sum_{t\le T} w_t\, p_t\cdot\hat c_t - \min_{h\in H}\sum_{t\le T} w_t\hat c_{t,h(x_t)}"
            r" \le \frac{\ln|H|}{\eta} + \frac{\eta B^2T}{8} \quad\text{for each } T",
            Proof.PROVED,
            "true of every sequence of costs, adaptive ones too",
            _hedges,
            adaptive=True,
        ),
    ),
    judge=Audit(look_at_means, kind=Kind.PATHWISE),
    cases=regret_settings,
)

AGNOSTIC_LEARNABILITY = Claim(
    id="boosting/agnostic-learnability",
    title="costs of Hedge against the best hypothesis",
    source=BOOSTING.at("Online Agnostic Learnability Condition; R of Hedge derived here"),
    game="weak-learning",
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
            every_horizon=True,
            adaptive=True,
        ),
    ),
    judge=tail(_of_draws, regret_limit),
    cases=regret_settings,
)
