"""Mistakes of the boosters by majority, whose weak learners have a known edge: ``oracle-noise`` on ``oracle-labels``,
which ignore their costs, and ``hedge-advice`` on ``advice-labels``, which learn from them.

=============  ====================================================================================
symbol         name here (E12 to E14 of the second paper, its displays rebuilt)
=============  ====================================================================================
gamma          ``gamma`` of the booster, what its potentials count on
gamma'         ``edge`` of the adversary, which the weak learners have
phi_N(0)       ``start``, the potential before the first vote
S              ``excess_loss``
w^{i*}         ``largest_weights``, by enumeration
=============  ====================================================================================

A weak learner that draws its label from u^y_gamma' costs w (1 - gamma')/k in the mean for a cost vector of weight w,
and at most w. So w (c - (1 - gamma)/k) has a drift of -w (gamma' - gamma)/k and a range of w, and with w^2 <= w its
exponential with the factor 8 (gamma' - gamma)/k is a supermartingale: weights in [0, 1] may be as small as they like,
and S = k ln(1/delta) / (8 (gamma' - gamma)) holds at all T. What the learner is told plays no part. For those that
learn see ``advised.py``; they are told weights and costs in units of ``scales``, and S sum_i s^i is in place of
S sum_i w^{i*}. A user's weak learners declare edge and S themselves, see ``declared_edge.py``.

The chance is in the predictions of ``oracle-noise``, which are features: there each run has a sequence of its own.
"""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from ....adversaries.oracle_labels import OracleLabels
from ....algorithms.boosting.majority import BanditBBM, OnlineMBBM
from ....algorithms.boosting.potentials import Potentials
from ....algorithms.boosting.weak import OracleNoise
from ...author import Cell, Claim, Evidence, Form, Law, Proof, Setting, Tail, TailSides
from ...games.labels.case import Case
from ...games.labels.run_sums import RunSums
from ..baselines.hypotheses import Unmet, number
from ..papers import BOOSTING
from ..sampled import SAMPLED_RUNS, deltas_for, guesser, non_vacuous_from
from .advised import advice_unmet, advised_excess_loss, follow_advice
from .declared_edge import are_users, declaration_of, declaration_unmet
from .hypotheses import booster, explores_at, of_booster

EXACT = (
    # k, N, edge of the weak learners, rho, law of the labels
    (2, 5, 0.2, 0.3, "uniform"),
    (2, 21, 0.15, 0.05, "constant"),
    (3, 5, 0.3, 0.2, "skewed"),
    (3, 10, 0.2, 0.4, "constant"),
    (3, 40, 0.15, 0.1, "uniform"),
    (4, 8, 0.4, 0.25, "constant"),
    (5, 10, 0.3, 0.15, "skewed"),
    (10, 12, 0.25, 0.5, "uniform"),
)
EXACT_FULL = ((2, 10, 0.2), (3, 20, 0.2), (5, 10, 0.3))
TAIL = ((3, 20, 0.4, 0.3), (3, 20, 0.6, 0.45))
"""k, N, edge of the weak learners, edge that the booster counts on."""
LEARNING_FULL = ((2, 5, 2, 0.15, 20, 0.48, 0.3, 3000), (3, 5, 2, 0.3, 40, 0.28, 0.2, 6000))
LEARNING = ((2, 5, 2, 0.15, 17, 0.56, 0.1, 10_000), (3, 20, 5, 0.02, 3, 0.76, 0.003, 20_000))
"""k, panel, how many are false, share of hard rounds, N, edge that the booster counts on, rate of Hedge, and T."""
LEARNING_RUNS = 16
GROWING = ((400, 5), (1200, 10), (3600, 20))
"""T and N."""


def _setting(
    kind: str, k: int, n: int, edge: float, more: str, horizon: int, runs: int, law: str = "uniform"
) -> Setting:
    return Setting(
        f"{kind}:weak=oracle-noise,learners={n},{more}",
        f"oracle-labels:n_labels={k},learners={n},edge={edge},law={law}",
        "full" if kind == "online-mbbm" else "bandit",
        horizon,
        runs=runs,
    )


def _learning(kind: str, numbers: tuple[float, ...], more: str = "") -> Setting:
    k, panel, false, hard, n, gamma, rate, horizon = numbers
    weak = f"weak=hedge-advice+rate={rate},learners={n},gamma={gamma},scale=exact"
    stream = f"advice-labels:n_labels={k},panel={panel},false={false},hard={hard}"
    graph = "full" if kind == "online-mbbm" else "bandit"
    return Setting(
        f"{kind}:{weak}{more}", stream, graph, int(horizon), runs=LEARNING_RUNS, fewest=14
    )


def learning_settings() -> tuple[Setting, ...]:
    """BanditBBM with weak learners that learn from what they are told, at a given rate; of three labels only the bound
    with the exact potential says something."""
    return tuple(_learning("bandit-bbm", each, ",ties=random,rho=0.1") for each in LEARNING)


def full_settings() -> tuple[Setting, ...]:
    """OnlineMBBM where its bounds are non-vacuous, where they are sharpest (two labels, hardly an edge to spare), and
    where weak learners learn."""
    few = tuple(
        _setting("online-mbbm", k, n, edge, f"gamma={gamma}", 2000, SAMPLED_RUNS)
        for k, n, edge, gamma in TAIL
    )
    sharp = _setting("online-mbbm", 2, 20, 0.35, "gamma=0.3", 5000, SAMPLED_RUNS)
    return (*few, sharp, *(_learning("online-mbbm", each) for each in LEARNING_FULL))


def bandit_settings() -> tuple[Setting, ...]:
    """BanditBBM with a given rate."""
    return tuple(
        _setting("bandit-bbm", k, n, edge, f"gamma={gamma},ties=random,rho=0.1", 2000, SAMPLED_RUNS)
        for k, n, edge, gamma in TAIL
    )


def tuned_settings() -> tuple[Setting, ...]:
    """BanditBBM with the paper's rate, at growing T and N."""
    return tuple(
        _setting("bandit-bbm", 2, n, 0.6, "gamma=0.45,ties=random", T, SAMPLED_RUNS)
        for T, n in GROWING
    )


def _cases(kind: type, exact: bool, tuned: bool) -> tuple[Setting, ...]:
    if kind is OnlineMBBM:
        return full_settings()
    if tuned:
        return (*tuned_settings(), _learning("bandit-bbm", LEARNING[0], ",ties=random"))
    return bandit_settings() + learning_settings()[: None if exact else 1]


def exact_settings() -> tuple[Setting, ...]:
    """Ten settings of BanditBBM, two of them those of its bound, and three of OnlineMBBM; ties at random."""
    bandit = (
        _setting("bandit-bbm", k, n, edge, f"ties=random,rho={rho}", 20_000, 8, law)
        for k, n, edge, rho, law in EXACT
    )
    full = (
        _setting("online-mbbm", k, n, edge, "ties=random", 20_000, 8) for k, n, edge in EXACT_FULL
    )
    return (*bandit, *full, *bandit_settings())


def _is_bandit(case: Case) -> bool:
    return isinstance(case.learner, BanditBBM)


OTHERS = ", or hedge-advice on advice-labels"
"""More weak learners with an edge, which learn."""


def known_edge(claim: str, *kinds: type, others: str = "") -> Unmet:
    """The hypothesis that the booster is of one of these kinds, and that the edge of its weak learners is known;
    ``others`` names more of these, which are looked at elsewhere."""
    played = of_booster(claim, *kinds)

    def unmet(case: Case) -> str | None:
        if reason := played(case):
            return reason
        known = isinstance(case.adversary, OracleLabels)
        if not (known and isinstance(booster(case).weak, OracleNoise)):
            return f"it needs weak learners of a known edge: oracle-noise on oracle-labels{others}"
        return None if case.adversary.edge < 1 else "with edge 1 nobody errs"

    return unmet


def start(case: Case, edge: float, ties: str) -> float:
    """phi_N(0) for weak learners of this edge."""
    k = case.n_labels
    made = Potentials(k, edge, "random" if ties == "random" else "error")
    return made.potential(np.zeros(k, dtype=np.int64), 0, booster(case).learners)


def error_rate(case: Case) -> float:
    """The probability of a mistake in each round."""
    phi, k = start(case, case.adversary.edge, "random"), case.n_labels
    if not _is_bandit(case):
        return phi
    rho = number(case, "rho")
    return phi * (1 - rho) + (1 - phi) * rho + phi * rho * (k - 2) / (k - 1)


def _exact_unmet(case: Case) -> str | None:
    if reason := known_edge("boosting/exact-error", BanditBBM, OnlineMBBM)(case):
        return reason
    return None if booster(case).ties == "random" else "it needs ties to be broken at random"


EXACT_ERROR = Claim(
    id="boosting/exact-error",
    title="the exact probability of a mistake, weak learners of a known edge",
    source=BOOSTING.at("BanditBBM (Algorithm 2), votes; law of the mistakes derived here"),
    forms=(
        Form(
            "derived",
            r"M_T \text{ is binomial: } \Pr[\tilde y_t \neq y_t] ="
            r" \phi(1-\rho) + (1-\phi)\rho + \phi\rho\frac{k-2}{k-1},"
            r" \quad \phi = \phi_N(0) \quad (\text{OnlineMBBM: } \rho = 0)",
            Proof.PROVED,
            "an equality: the votes are N independent draws given the label, and the label that wins if it is wrong"
            " is equally likely to be any. An exact two-sided binomial test of the mistakes of all runs judges it:"
            " observed is how far they are from their mean, the envelope how far the test lets them be",
            _exact_unmet,
        ),
    ),
    judge=Law(error_rate),
    cases=exact_settings,
)


@cache
def largest_weights(n_labels: int, learners: int, gamma: float, ties: str) -> float:
    """The sum over the weak learners of their largest weights."""
    made = Potentials(n_labels, gamma, "random" if ties == "random" else "error")
    return math.fsum(made.largest_weight(i, learners - 1 - i) for i in range(learners))


def excess_loss(case: Case, delta: float) -> float:
    """S of the weak learners, for weights in [0, 1] and all T at once."""
    drift = (case.adversary.edge - booster(case).gamma) / case.n_labels
    return float(math.log(1 / delta) / (8 * drift))


def _rate(case: Case, exact: bool) -> float:
    """Mistakes a round that the first term of the bound allows."""
    gamma, n = booster(case).gamma, booster(case).learners
    if exact:
        return start(case, gamma, booster(case).ties)
    return Potentials(case.n_labels, gamma).bound(n)


def _envelope(exact: bool, tuned: bool, case: Case, horizon: float, delta: float) -> float:
    """Bound on the mistakes after some rounds, with probability 1 - delta."""
    learner, k = booster(case), case.n_labels
    n, bandit, declared = learner.learners, _is_bandit(case), declaration_of(case)
    sizes, parts = float(learner.scales(k).sum()), n + bandit
    odds = parts / delta
    if declared is not None:
        excess, odds = declared.excess_loss, 1 / (delta - n * declared.delta)
    elif follow_advice(case):
        excess = advised_excess_loss(case, learner.gamma, horizon, delta / parts)
    else:
        sizes = largest_weights(k, n, learner.gamma, learner.ties)
        excess = excess_loss(case, delta / parts)
    found = _rate(case, exact) * horizon + excess * sizes
    if tuned:
        # the rate of the whole game, of which the rounds may be a prefix
        found += horizon * k**1.75 * n**0.25 / math.sqrt(max(horizon, case.horizon))
    elif bandit:
        found += number(case, "rho") * horizon
    return found + bandit * math.sqrt(horizon / 2 * math.log(odds))


def _deltas(case: Case, runs: int) -> tuple[float, ...]:
    """The confidence parameters that so many runs can hold, above what the weak learners spend."""
    declared = declaration_of(case)
    spent = 0.0 if declared is None else booster(case).learners * declared.delta
    return tuple(delta for delta in deltas_for(runs) if delta > spent)


def _sides(exact: bool, tuned: bool, case: Case, form: Form, totals: RunSums) -> TailSides:
    deltas, envelope = _deltas(case, totals.runs), partial(_envelope, exact, tuned, case)
    return TailSides(
        totals.mistakes,
        {d: np.full(totals.runs, envelope(totals.rounds, d)) for d in deltas},
        np.zeros(totals.runs),
        non_vacuous_from(partial(envelope, delta=max(deltas))),
        guess=guesser(case, totals.rounds),
        least=envelope(totals.rounds, max(deltas)),
    )


def _vacuous(exact: bool, tuned: bool, case: Case) -> str | None:
    """The words for a bound as large as all mistakes that the rounds can hold."""
    envelope = partial(_envelope, exact, tuned, case, delta=max(_deltas(case, case.setting.runs)))
    if envelope(case.horizon) < case.horizon:
        return None
    return f"the terms that grow slower than T leave room for all mistakes: {non_vacuous_from(envelope)}"


def _excess_unmet(claim: str, kind: type, case: Case) -> str | None:
    """The hypothesis that the booster is of this kind, and that its weak learners have a known excess loss."""
    if not (are_users(case) or follow_advice(case)):
        if reason := known_edge(claim, kind, others=OTHERS)(case):
            return reason
        gamma, edge = booster(case).gamma, case.adversary.edge
        if gamma < edge:
            return None
        return f"the booster counts on gamma = {gamma}, not less than the edge {edge} of its weak learners"
    if reason := of_booster(claim, kind)(case):
        return reason
    learner = booster(case)
    if are_users(case):
        return declaration_unmet(learner.gamma, learner.learners, case)
    return advice_unmet(learner.gamma, case)


def _bound_unmet(claim: str, kind: type, tuned: bool, case: Case) -> str | None:
    if reason := _excess_unmet(claim, kind, case):
        return reason
    learner = booster(case)
    if kind is OnlineMBBM and learner.ties == "random":
        return "with random ties a mistake is drawn: it needs ties=lowest, for which potentials count a tie as one"
    if tuned:
        rho = case.n_labels**1.75 * learner.learners**0.25 / math.sqrt(case.horizon)
        return explores_at(case, rho)
    return None


_WHY = (
    "the supermartingale of each weak learner, with its potentials as costs, telescoped over the learners;"
    " weights may be arbitrarily small"
)


def _declared(cell: Cell, found: Evidence) -> str:
    """The declaration of the weak learners, in words."""
    if (declared := declaration_of(cell.case)) is None:
        return ""
    return (
        f"; the weak learners declare gamma = {declared.edge:.4g}, delta = {declared.delta:.4g},"
        f" S = {declared.excess_loss:.6g}"
    )


def _chance_is_in_the_sequence(case: Case) -> bool:
    """True if each run needs a sequence of its own, as where predictions are features; not where weak learners of the
    user's draw for themselves."""
    return declaration_of(case) is None and not follow_advice(case)


def _bound(name: str, kind: type, *, exact: bool = False, tuned: bool = False) -> Claim:
    bandit = kind is BanditBBM
    first = r"\phi_N(0)\,T" if exact else r"(k-1)e^{-\gamma^2N/2}\,T"
    explored = r"k^{7/4}N^{1/4}\sqrt{T}" if tuned else r"\rho T"
    more = rf" + {explored} + \sqrt{{\tfrac{{T}}{{2}}\ln\tfrac{{N+1}}{{\delta}}}}" if bandit else ""
    claim = f"boosting/{name}"
    which = "BanditBBM" if bandit else "OnlineMBBM"
    where = " with its rate put in" if tuned else "" if bandit else " with full information"
    how = {
        (False, False): "",
        (True, False): ", with the exact potential",
        (False, True): ", the paper's rate put in",
    }
    return Claim(
        id=claim,
        title=f"mistakes of {which} with high probability{how[exact, tuned]}",
        source=BOOSTING.at(
            f"BanditBBM (Algorithm 2), mistake bound{where}; constants derived here, S that of weak learners of a known"
            " edge"
        ),
        forms=(
            Form(
                "derived",
                rf"M_T \le {first}{more} + S\sum_i w^{{i*}},"
                rf" \quad S = \frac{{k\ln({'(N+1)' if bandit else 'N'}/\delta)}}{{8(\gamma'-\gamma)}}"
                r" \text{ for weak learners of edge } \gamma' > \gamma;"
                r" \quad S\sum_i s^i \text{ for those that declare } S,\ \gamma' \ge \gamma,"
                r" \text{ and } S_T\sum_i s^i \text{ for hedge-advice, whose } S_T \text{ is derived here}",
                Proof.PROVED,
                _WHY,
                partial(_bound_unmet, claim, kind, tuned),
                every_horizon=not tuned,  # the rate put in is that of the whole game
                vacuous=partial(_vacuous, exact, tuned),
            ),
        ),
        judge=Tail(
            partial(_sides, exact, tuned), fresh=_chance_is_in_the_sequence, remarks=_declared
        ),
        cases=partial(_cases, kind, exact, tuned),
    )


ONLINE_MBBM = _bound("online-mbbm", OnlineMBBM)
ONLINE_MBBM_POTENTIAL = _bound("online-mbbm-potential", OnlineMBBM, exact=True)
BANDIT_BBM = _bound("bandit-bbm", BanditBBM)
BANDIT_BBM_POTENTIAL = _bound("bandit-bbm-potential", BanditBBM, exact=True)
BANDIT_BBM_TUNED = _bound("bandit-bbm-tuned", BanditBBM, tuned=True)
