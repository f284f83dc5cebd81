"""Small boosters for the tests of the exact claims about them."""

from __future__ import annotations

from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite


def setting(learner: str, k: int, graph: str = "bandit") -> Setting:
    return Setting(learner, f"one-hot:n_labels={k}", graph, 6, None, 1)


BBM3, BBM4 = (setting("bandit-bbm:learners=4,gamma=0.2,rho=0.1", k) for k in (3, 4))
ADA3 = setting("ada-bandit:learners=3,rho=0.3", 3)
MBBM4 = setting("online-mbbm:learners=4,gamma=0", 4, "full")
MBBM8 = setting("online-mbbm:learners=5,gamma=0,ties=random", 8, "full")
OLM3 = setting("adaboost-olm:learners=3", 3, "full")


def rows_of(claim: str, at: Setting) -> dict[str, suite.Row]:
    """What each form of a claim comes to."""
    return {row.form: row for row in suite.judge_job(suite.Job(at, (f"boosting/{claim}",)), 0)}
