"""A third game, as a user's file: guess a number in [0, 1], and pay the squared distance.

=======  ===========================================================
symbol   name here
=======  ===========================================================
g_t, y_t ``guess``, ``number``; the loss is (g_t - y_t)^2
R_t      regret against the best fixed guess, the mean of the numbers
=======  ===========================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boundcheck import (
    Bound,
    Claim,
    Form,
    Interval,
    Mean,
    MeanSides,
    Pathwise,
    Proof,
    Setting,
    Sides,
    Source,
    Suspect,
    Verdict,
)
from boundcheck.verify.games.game import Game
from boundcheck.verify.games.simple import SimpleCase


@dataclass(frozen=True)
class RunningMean:
    """Guess the mean of the numbers so far, 1/2 at first."""

    spec: ClassVar[str] = "running-mean"
    promises: ClassVar[tuple[str, ...]] = ("guessing/*",)

    def guesser(self, past: Any, dice: Any) -> float:
        return float(past.mean()) if len(past) else 0.5


@dataclass(frozen=True)
class Random:
    """Guess anything."""

    spec: ClassVar[str] = "random"

    def guesser(self, past: Any, dice: Any) -> float:
        return float(dice.random())


@dataclass(frozen=True)
class Waves:
    """Numbers that go up and down between 1/4 and 3/4."""

    spec: ClassVar[str] = "waves"

    def numbers(self, horizon: int, seed: int) -> Any:
        return 0.5 + np.round(np.sin(np.arange(1, horizon + 1))) / 4


@dataclass(frozen=True)
class Case(SimpleCase):
    game_name: ClassVar[str] = "guessing"

    def columns(self, run: int) -> Mapping[str, Any]:
        numbers = self.adversary.numbers(self.horizon, self.seed)
        dice = self.generator(run)
        guesses = np.array([self.learner.guesser(numbers[:t], dice) for t in range(self.horizon)])
        return {"number": numbers, "guess": guesses, "loss": (guesses - numbers) ** 2}


class Guessing(Game):
    name: ClassVar[str] = "guessing"
    learner_method: ClassVar[str] = "guesser"
    adversary_method: ClassVar[str] = "numbers"

    def learners(self) -> Mapping[str, type[Any]]:
        return {"running-mean": RunningMean, "random": Random}

    def adversaries(self) -> Mapping[str, type[Any]]:
        return {"waves": Waves}

    def resolve(self, setting: Setting, learner: Any, adversary: Any, seed: int) -> Case:
        return Case(setting, learner, adversary, seed)


GUESSING = Guessing()
HERE = Source("Folklore", "Prediction with squared losses", 2000)


@dataclass(frozen=True)
class NumbersInstance:
    """Numbers that the running mean is played on."""

    numbers: tuple[Interval, ...]
    kind: ClassVar[str] = "numbers"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NumbersInstance:
        return cls(tuple(Interval.of(number) for number in data["numbers"]))

    def to_json(self) -> dict[str, Any]:
        return {"numbers": [number.to_json() for number in self.numbers]}

    def simpler(self) -> Iterator[NumbersInstance]:
        return iter(())

    @property
    def regret(self) -> Interval:
        paid, total = Interval.of(0), Interval.of(0)
        for t, number in enumerate(self.numbers):
            guess = total / t if t else Interval.of("1/2")
            paid, total = paid + (guess - number).square(), total + number
        mean = total / len(self.numbers)
        return paid - sum(((y - mean).square() for y in self.numbers), Interval.of(0))

    @property
    def derived(self) -> dict[str, Any]:
        return {"regret": self.regret.to_json()}


def bound(form: Form, rounds: Any) -> Any:
    return (1 / 32 if form.name == "printed" else 2) * (1 + np.log(rounds))


def sides(case: Case, form: Form, rounds: Any) -> Sides:
    y, t = rounds.history["number"], np.arange(1, case.horizon + 1)
    best = (y**2).cumsum() - y.cumsum() ** 2 / t
    regret = (rounds.history["loss"].cumsum() - best)[rounds.start : rounds.start + len(rounds)]
    envelope = bound(form, t[rounds.start : rounds.start + len(rounds)])
    return Sides(regret, envelope, np.full(len(rounds), 1e-9), cumulative=True)


def instance_of(case: Case, suspect: Suspect) -> NumbersInstance:
    return NumbersInstance(tuple(Interval.of(y) for y in suspect.row["number"].tolist()))


def exact(instance: NumbersInstance, form: Form) -> tuple[Interval, Interval]:
    factor = Interval.of("1/32" if form.name == "printed" else 2)
    return instance.regret, factor * (1 + Interval.of(len(instance.numbers)).log())


def mean_sides(case: Case, form: Form, totals: Any) -> MeanSides:
    T, envelope = totals.rounds, np.full(totals.runs, totals.rounds * 7 / 48 + 0.0)
    return MeanSides(
        totals.columns["loss"], (Bound(envelope, float(envelope[0])),), 0 * envelope,
        least=float(envelope[0]), most=T, guess=T / 3, non_vacuous="it is non-vacuous from T = 1",
    )  # fmt: skip


def learns(case: Case) -> str | None:
    return None if isinstance(case.learner, RunningMean) else "it is about the running mean"


REGRET = Claim(
    id="guessing/regret",
    title="regret of the running mean",
    source=HERE.at("Theorem 1"),
    forms=(
        Form("printed", r"R_t \le \frac{1 + \ln t}{32}", Proof.FALSE, "the constant is too small", learns,
             lambda case: Verdict.REFUTED),
        Form("repaired", r"R_t \le 2(1 + \ln t)", Proof.PROVED, "each round costs at most 2/t", learns),
    ),
    judge=Pathwise(sides, instance_of, exact, instances=(NumbersInstance,)),
    cases=lambda: [Setting("running-mean", "waves", "full", 50, runs=1)],
    game="guessing",
)  # fmt: skip
LOSS = Claim(
    id="guessing/loss",
    title="loss of a random guess",
    source=HERE.at("Theorem 2"),
    forms=(Form("printed", r"E[L_T] \le \frac{7T}{48}", Proof.PROVED, "1/12 plus 1/16 a round"),),
    judge=Mean(mean_sides),
    cases=lambda: [Setting("random", "waves", "full", 200, runs=64)],
    game="guessing",
)
