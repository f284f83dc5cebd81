"""Draw the README's pictures: guarantee (4) on a sequence whose labels switch half way, and a frontier.

python docs/picture.py
"""

from __future__ import annotations

from pathlib import Path

import seaborn as sns
from matplotlib.figure import Figure

from boundcheck.reports.page.figures import svg
from boundcheck.reports.page.frontiers import frontier_panels
from boundcheck.verify import catalog
from boundcheck.verify.claim import Cell
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.judges.pathwise import Pathwise, Watch
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite.run import Job, judge_job


def watched(optimiser: str, form: str) -> Watch:
    """Guarantee (4) as one run of the alternating sequence shows it."""
    claim = catalog.claims()["gappletron/guarantee-4"]
    learner = gappletron("smooth-hinge", "printed", optimiser, "1")
    case = resolve(Setting(learner, "alternation", "full", 512, comparator_norm=1.0), seed=0)
    assert isinstance(claim.judge, Pathwise)
    watch = claim.judge.watch(Cell(claim, claim.form(form), case))
    for rounds in case.play(0):
        watch.see(0, rounds)
    return watch


def draw_frontier() -> None:
    """Write frontier.svg beside this file: the tight control, weak learners that draw their labels with an edge."""
    job = Job(
        Setting("oracle-noise", "even-costs", "bandit", 2000, None, 512), ("boosting/frontier",)
    )
    (row,) = judge_job(job, seed=0)
    (panel,) = frontier_panels([row.to_json()])
    Path(__file__).with_name("frontier.svg").write_text(panel.picture + "\n", encoding="utf-8")


def main() -> None:
    """Write guarantee-4.svg and frontier.svg beside this file."""
    draw_frontier()
    figure = Figure(figsize=(9, 3), layout="constrained")
    titles = {
        "unprojected": "the experiments' descent, without projection: refuted",
        "projected": "projected descent: holds",
    }
    for axes, (optimiser, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        watch = watched(optimiser, "transferred" if optimiser == "unprojected" else "repaired")
        _, rounds, observed, envelope, _ = zip(*watch.curve, strict=True)
        axes.plot(rounds, observed, color="#b3261e" if optimiser == "unprojected" else "#2f7d4f")
        axes.plot(rounds, envelope, color="#444", ls="--")
        bad = watch.first_bad
        if bad is not None:
            axes.axvline(bad.round + 1, color="#b3261e", lw=0.8, ls=":")
            axes.annotate(
                f"first bad round: {bad.round}",
                (bad.round + 1, 0.92),
                xycoords=("data", "axes fraction"),
                ha="right",
                fontsize=9,
                xytext=(-6, 0),
                textcoords="offset points",
            )
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("round")
        axes.set_ylabel("regret (solid), envelope (dashed)", fontsize=9)
        sns.despine(ax=axes)
    Path(__file__).with_name("guarantee-4.svg").write_text(svg(figure) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
