"""A third game, as a user's file: guess a number in [0, 1], and pay the squared distance.

========  ==============================================================
symbol    name here
========  ==============================================================
g_t, y_t  ``guess``, ``number``; the loss is (g_t - y_t)^2
R_t       regret against the best fixed guess, the mean of the numbers
========  ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gmpy2 import mpq

import boundcheck as bc
from boundcheck.verify.games.game import Game
from boundcheck.verify.games.simple import SimpleCase


@dataclass(frozen=True)
class RunningMean:
    """Guess the mean of the numbers so far, 1/2 at first."""

    spec: ClassVar[str] = "running-mean"
    promises: ClassVar[tuple[str, ...]] = ("guessing/*",)

    def guess(self, past: Any, dice: Any) -> float:
        return float(past.mean()) if len(past) else 0.5


@dataclass(frozen=True)
class Random:
    """Guess anything."""

    spec: ClassVar[str] = "random"

    def guess(self, past: Any, dice: Any) -> float:
        return float(dice.random())


@dataclass(frozen=True)
class Waves:
    """Numbers that go up and down between 1/4 and 3/4, from 1/2."""

    spec: ClassVar[str] = "waves"

    def numbers(self, horizon: int, seed: int) -> Any:
        return 0.5 + np.round(np.sin(np.arange(horizon))) / 4


class Case(SimpleCase):
    game_name: ClassVar[str] = "guessing"

    def columns(self, run: int) -> Mapping[str, Any]:
        numbers, dice = self.adversary.numbers(self.horizon, self.seed), self.generator(run)
        guesses = np.array([self.learner.guess(numbers[:t], dice) for t in range(self.horizon)])
        return {"number": numbers, "guess": guesses, "loss": (guesses - numbers) ** 2}


class Guessing(Game):
    name: ClassVar[str] = Case.game_name
    learner_method: ClassVar[str] = "guess"
    adversary_method: ClassVar[str] = "numbers"

    def learners(self) -> Mapping[str, type[Any]]:
        return {"running-mean": RunningMean, "random": Random}

    def adversaries(self) -> Mapping[str, type[Any]]:
        return {"waves": Waves}

    def resolve(self, setting: bc.Setting, learner: Any, adversary: Any, seed: int) -> Case:
        return Case(setting, learner, adversary, seed)


GUESSING = Guessing()
FOLKLORE = bc.Source("Folklore", "Prediction with squared losses", 2000)


def about(kind: type[Any]) -> Callable[[Case], str | None]:
    return lambda case: None if isinstance(case.learner, kind) else f"it is about {kind.spec}"


@dataclass(frozen=True)
class Numbers(bc.Instance):
    """Numbers that the running mean is played on."""

    number: tuple[mpq, ...]
    kind: ClassVar[str] = "numbers"

    @property
    def regret(self) -> mpq:
        loss, total = mpq(0), mpq(0)
        for t, y in enumerate(self.number):
            guess = total / t if t else mpq(1, 2)
            loss, total = loss + (guess - y) ** 2, total + y
        best = total / len(self.number)
        return loss - sum((y - best) ** 2 for y in self.number)

    @property
    def derived(self) -> dict[str, Any]:
        return {"regret": str(self.regret)}


FACTORS = {"printed": mpq(1, 40), "repaired": mpq(2)}


def sides(case: Case, form: bc.Form, rounds: Any) -> bc.Sides:
    t, y, loss = np.arange(1, case.horizon + 1), rounds.history["number"], rounds.history["loss"]
    regret = loss.cumsum() - ((y**2).cumsum() - y.cumsum() ** 2 / t)
    envelope = float(FACTORS[form.name]) * (1 + np.log(t))
    here = slice(rounds.start, rounds.start + len(rounds))
    return bc.Sides(regret[here], envelope[here], np.full(len(rounds), 1e-9), cumulative=True)


def exact(instance: Numbers, form: bc.Form) -> tuple[bc.Interval, bc.Interval]:
    bound = FACTORS[form.name] * (1 + bc.Interval.of(len(instance.number)).log())
    return bc.Interval.of(instance.regret), bound


def mean_sides(case: Case, form: bc.Form, totals: Any) -> bc.MeanSides:
    T, loss, bound = totals.rounds, totals.columns["loss"], 7 * totals.rounds / 48
    envelope = bc.Bound(np.full(len(loss), bound), ceiling=bound)
    return bc.MeanSides(loss, (envelope,), 0 * loss, bound, T, T / 3, "it always is")


REGRET = bc.Claim(
    id="guessing/regret", title="regret of the running mean",
    source=FOLKLORE.at("Theorem 1"),
    forms=(
        bc.Form("printed", r"R_t \le \frac{1 + \ln t}{40}", bc.Proof.FALSE, "the constant is too small",
                about(RunningMean), lambda case: bc.Verdict.REFUTED),
        bc.Form("repaired", r"R_t \le 2(1 + \ln t)", bc.Proof.PROVED, "round t costs at most 2/t", about(RunningMean)),
    ),
    judge=bc.Pathwise(sides, lambda case, bad: Numbers.from_json(bad.row), exact, instances=(Numbers,)),
    cases=lambda: [bc.Setting("running-mean", "waves", "full", 50, runs=1)],
    game=Case.game_name,
)  # fmt: skip
LOSS = bc.Claim(
    id="guessing/loss", title="loss of a random guess",
    source=FOLKLORE.at("Theorem 2"),
    forms=(bc.Form("printed", r"E[L_T] \le \frac{7T}{48}", bc.Proof.PROVED, "1/12 + 1/16 a round", about(Random)),),
    judge=bc.Mean(mean_sides),
    cases=lambda: [bc.Setting("random", "waves", "full", 200, runs=64)],
    game=Case.game_name,
)  # fmt: skip
