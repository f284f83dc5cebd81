"""Gappletron (Algorithm 1 of "Beyond Bandit Feedback in Online Multiclass Classification").

=========  =====================================================================
symbol     name here
=========  =====================================================================
y*         ``best``, the label with the highest score
a_t        ``gap``, the gap map: the loss if the best label were the true one
Q          the revealing actions of the graph
S, rho     the dominating set and its size, the domination number
gamma      ``gamma``, the exploration parameter
gamma_t    ``rate``, min{1/2, gamma / sqrt(number of rounds so far with y* outside Q)}, 0 if y* in Q
zeta_t     whether the round plays the gap map's mixture instead of exploring S
v_t        ``weight``, the importance weight
=========  =====================================================================

The exploration rule comes in three forms. ``printed`` is lines 9 and 10 of the paper; with it a label
that few actions observe may be seen with probability gamma_t / K only, and bound (9) fails.
``threshold`` repairs line 9: zeta = 1[(K / rho) gamma_t <= a]. ``mixture`` repairs line 10: with
probability gamma_t the learner always explores S, and the uniform part covers the labels only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from ..arrays import FloatArray, finite
from ..compiled import Kernel, helper, kernel
from ..errors import unknown
from . import losses, optimisers
from .learner import OWN, PREDICT, Declaration, Player, Problem, fresh_state
from .losses import Loss, SmoothHinge
from .optimisers import Optimiser, ProjectedDescent
from .spec import Checked, check_keys, read_float

Rule = Literal["printed", "threshold", "mixture"]

COUNTER, RATE, N_STATE = OWN, OWN + 1, OWN + 2
"""Slots of ``state``: rounds so far with the best label outside Q, and this round's rate."""

COMPARATOR_NORM, GAMMA, N_LABELS, DOMINATION, MASKS = 0, 1, 2, 3, 4
"""Slots of ``parameters``; from ``MASKS`` on two vectors of one entry per action: 1_Q and 1_S."""


@helper
def exploration_rate(best: int, parameters: FloatArray, state: FloatArray) -> float:
    """Lines 5 to 8: count the round if the best label is not revealing, and return gamma_t."""
    rate = 0.0
    if parameters[MASKS + best] == 0.0:
        state[COUNTER] += 1.0
        rate = parameters[GAMMA] / math.sqrt(state[COUNTER])
        if rate > 0.5:
            rate = 0.5
    state[RATE] = rate
    return rate


@helper
def mix_uniform(best: int, gap: float, p: FloatArray) -> None:
    """Play the best label, but with probability ``gap`` an action drawn uniformly."""
    n_actions = p.shape[0]
    share = gap / n_actions
    for k in range(n_actions):
        p[k] = share
    p[best] += 1.0 - gap


@helper
def mix_dominating(best: int, rate: float, parameters: FloatArray, p: FloatArray) -> None:
    """Play the best label, but with probability ``rate`` an action of the dominating set."""
    n_actions = p.shape[0]
    share = rate / parameters[DOMINATION]
    for k in range(n_actions):
        p[k] = share * parameters[MASKS + n_actions + k]
    p[best] += 1.0 - rate


@kernel(PREDICT)
def _printed(
    best: int, gap: float, parameters: FloatArray, state: FloatArray, p: FloatArray
) -> None:
    rate = exploration_rate(best, parameters, state)
    if rate <= gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def _threshold(
    best: int, gap: float, parameters: FloatArray, state: FloatArray, p: FloatArray
) -> None:
    rate = exploration_rate(best, parameters, state)
    if p.shape[0] / parameters[DOMINATION] * rate <= gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def _mixture(
    scores: FloatArray,
    best: int,
    gap: float,
    parameters: FloatArray,
    state: FloatArray,
    p: FloatArray,
) -> None:
    rate = exploration_rate(best, parameters, state)
    n_labels = scores.shape[0]
    mix_dominating(best, rate, parameters, p)
    p[best] -= (1.0 - rate) * gap
    share = (1.0 - rate) * gap / n_labels
    for k in range(n_labels):
        p[k] += share


RULES: dict[str, Kernel] = {"printed": _printed, "threshold": _threshold, "mixture": _mixture}


def _at_least_0(value: Any) -> float | None:
    return value if finite(value) and value >= 0 else None


def _probability(value: Any) -> float | None:
    return float(value) if finite(value) and 0 < value < 1 else None


def _rule(value: Any) -> str | None:
    if not (isinstance(value, str) and value in RULES):
        raise unknown("exploration rule", str(value), RULES)
    return value


DECLARABLE: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "gamma": (_at_least_0, "a finite number of at least 0"),
    "rule": (_rule, "the name of an exploration rule"),
    "regret_factor": (_at_least_0, "a finite number of at least 0"),
    "delta": (_probability, "a number in (0, 1)"),
    "optimiser": (lambda value: optimisers.parse(str(value)).spec, "the name of an optimiser"),
}
"""The names that a class of the user's may declare for the claims of this paper: how each is read, None where it is not
legal, and what is expected."""


def tuned_gamma(
    tuning: str, problem: Problem, loss: Loss, factor: float, delta: float = 0.05
) -> float:
    """The exploration parameter that a theorem of the paper prescribes.

    Parameters
    ----------
    tuning : "ones" (gamma = 1, the experiments), or "theorem-4a", "-4b", "-5a", "-5b"
    problem : the problem to be played
    loss : the surrogate loss, for L and its maximum over the ball
    factor : h(U) of guarantee (4)
    delta : confidence parameter of Theorem 5, in (0, 1)
    """
    n_labels, rho = problem.n_labels, problem.graph.domination_number
    smoothness = loss.smoothness(problem.feature_norm, n_labels)
    base = smoothness * factor * factor
    log_term = loss.maximum(problem.feature_norm, problem.comparator_norm, n_labels) * math.log(
        2 / delta
    )
    squares = {
        "ones": 1.0,
        "theorem-4a": n_labels * rho * base / 4,
        "theorem-4b": rho * base,
        "theorem-5a": n_labels * rho * (base + 5 * log_term),
        "theorem-5b": rho * ((n_labels + 2) * log_term + base),
    }
    if tuning not in squares:
        raise unknown("tuning of gamma", tuning, squares)
    return math.sqrt(squares[tuning])


@dataclass(frozen=True)
class Gappletron(Checked):
    """Gappletron with a surrogate loss, an exploration rule, an optimiser and a tuning of gamma.

    Parameters
    ----------
    loss : surrogate loss
    rule : "printed", "threshold" or "mixture" (see the module)
    optimiser : makes the weights from the estimated gradients
    gamma : exploration parameter, at least 0, or the name of a tuning
    delta : confidence parameter of the Theorem 5 tunings, in (0, 1)

    Raises
    ------
    UserError
        for a negative or NaN gamma, an unknown rule or tuning, or a delta outside (0, 1)
    """

    loss: Loss = SmoothHinge()  # noqa: RUF009
    rule: Annotated[Rule, RULES] = "threshold"
    optimiser: Optimiser = ProjectedDescent()  # noqa: RUF009
    gamma: Annotated[float | str, "[0, inf)"] = "theorem-4a"
    delta: Annotated[float, "(0, 1)"] = 0.05
    source: ClassVar[str] = (
        "D. van der Hoeven, F. Fusco and N. Cesa-Bianchi (2021),"
        " Beyond Bandit Feedback in Online Multiclass Classification"
    )
    graphs: ClassVar[str] = "any"
    tunings: ClassVar[Mapping[str, str]] = {
        "ones": "gamma = 1",
        "theorem-4a": "gamma = (K rho L)^(1/2) h / 2",
        "theorem-4b": "gamma = (rho L)^(1/2) h",
        "theorem-5a": "gamma = (K rho (L h^2 + 5 l ln(2/delta)))^(1/2), l the largest loss",
        "theorem-5b": "gamma = (rho (L h^2 + (K + 2) l ln(2/delta)))^(1/2)",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.gamma, str) and self.gamma not in self.tunings:
            raise unknown("tuning of gamma", self.gamma, self.tunings)

    @property
    def spec(self) -> str:
        gamma = (
            self.gamma
            if isinstance(self.gamma, str)
            else repr(float(self.gamma)).removesuffix(".0")
        )
        delta = "" if self.delta == type(self).delta else f",delta={self.delta}"
        return (
            f"gappletron:loss={self.loss.spec},rule={self.rule},"
            f"optimiser={self.optimiser.spec},gamma={gamma}{delta}"
        )

    @property
    def promises(self) -> tuple[str, ...]:
        return ("gappletron/*", "game/*")

    def player(self, problem: Problem) -> Player:
        norm = problem.comparator_norm
        factor = self.optimiser.regret_factor(norm, norm)
        # the experiments' optimiser has no h; the paper tunes with the norm bound in its place
        gamma = (
            tuned_gamma(self.gamma, problem, self.loss, factor or norm, self.delta)
            if isinstance(self.gamma, str)
            else self.gamma
        )
        graph = problem.graph
        revealing, dominating = np.zeros(graph.n_actions), np.zeros(graph.n_actions)
        revealing[list(graph.revealing)] = 1
        dominating[list(graph.dominating)] = 1
        own = [gamma, graph.n_labels, graph.domination_number]
        return Player(
            predict=RULES[self.rule],
            update=self.optimiser.step,
            parameters=np.concatenate(
                [self.optimiser.parameters(norm), own, revealing, dominating]
            ),
            state=fresh_state(N_STATE - OWN, norm=self.optimiser.needs_norm),
            declaration=Declaration(
                self.loss,
                {"gamma": gamma, "rule": self.rule, "delta": self.delta}
                | {"optimiser": self.optimiser.spec}
                | ({} if factor is None else {"regret_factor": factor}),
            ),
            weights=self.optimiser.weights(problem.n_features, graph.n_labels),
        )

    @classmethod
    def from_parameters(cls, given: dict[str, str]) -> Gappletron:
        """Make a Gappletron from the parameters of a command-line spec, all of them optional.

        Raises
        ------
        UserError
            for an unknown parameter or an illegal value
        """
        check_keys("gappletron", given, ("loss", "rule", "optimiser", "gamma", "delta"))
        gamma: float | str = given.get("gamma", "theorem-4a")
        if gamma not in cls.tunings:
            try:
                gamma = float(gamma)
            except ValueError:
                raise unknown("tuning of gamma", str(gamma), cls.tunings) from None
        return cls(
            losses.parse(given.get("loss", "smooth-hinge")),
            given.get("rule", "threshold"),  # type: ignore[arg-type]
            optimisers.parse(given.get("optimiser", "projected")),
            gamma,
            read_float(given, "delta", 0.05, "(0, 1)"),
        )
