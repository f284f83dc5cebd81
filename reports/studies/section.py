"""Results of a study, finished or not: figures, curves, a ranking, the findings of its source, and tables as files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ... import __version__
from ...errors import UserError
from ...verify.studies import store
from ...verify.studies import study as studies
from ...verify.studies.asymptotic import asymptotic_share
from ...verify.studies.finding import LEVEL, Comparison, Finding
from ...verify.studies.learners import ANY, BEST
from ...verify.studies.study import Study
from ...verify.user_files.load import only
from ..page.exports import FORMATS
from . import figures as study_figures
from . import panels as study_panels
from . import twins

FIFTH = 5
"""The step, in hundredths, between the error shares in the tables."""


@dataclass(frozen=True)
class StudyResults:
    """The contents of the folder of a study.

    Attributes
    ----------
    folder, study : where, and what
    planned : number of cases
    sums : one row for each finished case, learner, tuning and checkpoint
    failed : number of cases that raised
    notes : a sentence for each file that could not be used
    stale : number of cases that other sources or libraries made than are here now
    others : the other versions of boundcheck among them
    """

    folder: Path
    study: Study
    planned: int
    sums: pd.DataFrame
    failed: int
    notes: tuple[str, ...]
    stale: int
    others: tuple[str, ...] = ()

    @property
    def staleness(self) -> str | None:
        """A sentence about the cases that are not as this version makes them, or None."""
        if not self.stale:
            return None
        made = "was" if self.stale == 1 else "were"
        by = " and ".join(f"boundcheck {name}" for name in self.others)
        by = f"{by}, here {__version__}" if by else "other sources or libraries than are here now"
        return (
            f"{self.stale} of {self.finished} cases {made} made by {by}: they are not to be compared with new ones;"
            " boundcheck study plays them again."
        )

    @cached_property
    def finished(self) -> int:
        """Number of finished cases."""
        return int(self.sums["case"].nunique())

    @cached_property
    def curves(self) -> pd.DataFrame:
        """The sums with a learner of one tuning under each of the study's tunings, and under "best"."""
        parts = [self.sums[self.sums["tuning"] != ANY]]
        constant = self.sums[self.sums["tuning"] == ANY]
        parts += [constant.assign(tuning=tuning) for tuning in self.study.tunings]
        every = pd.concat(parts, ignore_index=True)
        if len(self.study.tunings) == 1:
            return every
        last = every[every["rounds"] == every["horizon"]]
        means = last.groupby(["setting", "learner", "tuning"], sort=False)[
            self.study.measures[0]
        ].mean()
        best = means.unstack("tuning").idxmin(axis=1).rename("tuning").reset_index()
        chosen = every.merge(best, on=["setting", "learner", "tuning"])
        return pd.concat([every, chosen.assign(tuning=BEST)], ignore_index=True)

    @cached_property
    def final(self) -> pd.DataFrame:
        """The rows of :attr:`curves` at the horizon."""
        return self.curves[self.curves["rounds"] == self.curves["horizon"]]

    @property
    def tunings(self) -> tuple[str, ...]:
        """The study's tunings, and "best" where there are several."""
        tunings = self.study.tunings
        return (*tunings, BEST) if len(tunings) > 1 else tunings

    def compared(self) -> list[tuple[Finding, list[Comparison]]]:
        """The findings of the study's source with what was measured."""
        return [(f, f.compare(self.final, self.study.grid)) for f in self.study.findings]

    def ranking(self, measure: str) -> pd.DataFrame:
        """Share of rounds with a mistake, averaged over settings and seeds, the smallest of all tunings first.

        Columns: learner, tuning, rank, wins, mean, one for each value of the inner axis, low and high over seeds.
        ``rank`` is the mean rank over settings among the learners with the same tuning; ``wins`` counts settings;
        ``low`` and ``high`` are among the seeds in which all settings are finished.
        """
        share = self.final.assign(share=self.final[measure] / self.final["horizon"])
        by_setting = share.groupby(["tuning", "setting", "learner"])["share"].mean()
        ranks = by_setting.groupby(["tuning", "setting"]).rank()
        keys = ["learner", "tuning"]
        whole = share.groupby("seed")["setting"].transform("nunique") == len(self.study.cells)
        by_seed = share[whole].groupby([*keys, "seed"])["share"].mean().groupby(keys)
        table = pd.DataFrame(
            {
                "rank": ranks.groupby(["learner", "tuning"]).mean(),
                "wins": (ranks == 1).groupby(["learner", "tuning"]).sum(),
                "mean": share.groupby(keys)["share"].mean(),
                "low": by_seed.min(),
                "high": by_seed.max(),
            }
        )
        inner = study_figures.layout(self.study).inner
        if inner is not None:
            split = share.groupby([*keys, inner])["share"].mean().unstack(inner)
            table = table.join(split.rename(columns=lambda value: f"{inner}={value}"))
        order = {tuning: i for i, tuning in enumerate(self.tunings)}
        table = table.reset_index().sort_values("mean", kind="stable")
        return table.sort_values("tuning", key=lambda t: t.map(order), kind="stable").reset_index(
            drop=True
        )

    @cached_property
    def costs(self) -> dict[str, pd.DataFrame]:
        """For each measure the rounds that learners and their twins need, see :func:`twins.costs`."""
        return {m: twins.costs(self.study, self.curves, m) for m in self.study.measures}

    def settings_table(self, measure: str) -> pd.DataFrame:
        """Mean, smallest and largest of a measure over seeds, for each setting, learner and tuning."""
        axes = [axis for axis, values in self.study.grid.items() if len(values) > 1]
        groups = self.final.groupby([*axes, "tuning", "learner"], sort=False)[measure]
        return groups.agg(["mean", "min", "max", "count"]).reset_index()


@only(())  # what results name is not run
def load(folder: Path) -> StudyResults:
    """Read the folder of a study, finished or not.

    Raises
    ------
    UserError
        if there is no study in it, nothing is finished, or a newer version wrote it
    """
    if not (folder / store.PLAN).is_file():
        raise UserError(
            f"no study in '{folder}': expected {store.PLAN}, as boundcheck study writes it."
        )
    plan = store.load_plan(folder)
    if plan is None:
        raise UserError(f"'{folder / store.PLAN}' is damaged: run the study again.")
    study = studies.parse(plan["name"], plan["study"])
    tables, notes, stale, makers = [], [], 0, set()
    for key in plan["cases"]:
        path = folder / f"{key}.parquet"
        if not path.exists():
            continue
        try:
            found = store.read(path)
        except store.DamagedError as error:
            notes.append(f"{path.name} {error}")
            continue
        if store.difference(found.provenance) is not None:
            stale += 1
            makers.add(found.provenance.get("boundcheck", "of an unknown version"))
        tables.append(_with_case(key, found))
    if not tables:
        raise UserError(
            f"no finished case in '{folder}': expected at least one of {len(plan['cases'])}; run the study."
        )
    failed = len([*folder.glob(f"*{store.FAILED}")])
    sums = pd.concat(tables, ignore_index=True)
    others = tuple(sorted(makers - {__version__}))
    return StudyResults(
        folder, study, len(plan["cases"]), sums, failed, tuple(notes), stale, others
    )


def _with_case(key: str, found: store.Finished) -> pd.DataFrame:
    """The numbers of a case with its axes as columns."""
    case = found.case
    axes: dict[str, Any] = {**case["axes"], "horizon": case["horizon"]}
    setting = ", ".join(f"{axis}={value}" for axis, value in axes.items())
    more = {"case": key, "setting": setting, "seed": case["seed"]}
    sizes = {"features": case["features"], "labels": case["labels"]}
    numbers: pd.DataFrame = found.table.to_pandas()
    limits = {
        (learner, tuning): asymptotic_share(spec, case["labels"])
        for learner, tuning, _, spec in case["learners"]
    }
    pairs = zip(numbers["learner"], numbers["tuning"], strict=True)
    shares = np.array([limits[pair] for pair in pairs], dtype=np.float64)
    return numbers.assign(**axes, **more, **sizes, asymptotic_share=shares)


def found_in(folder: Path) -> list[Path]:
    """The folders of studies in a folder."""
    return sorted(path.parent for path in folder.glob(f"*/{store.PLAN}"))


def section(results: StudyResults) -> dict[str, Any]:
    """The data of a study that the page shows."""
    study = results.study
    return {
        "id": f"study-{study.name}",
        "name": study.name,
        "title": study.title,
        "source": study.source,
        "finished": results.finished,
        "planned": results.planned,
        "failed": results.failed,
        "stale": results.staleness,
        "notes": results.notes,
        "level": f"{LEVEL:.0%}",
        "findings": [_finding(finding, rows) for finding, rows in results.compared()],
        "rankings": [
            {
                "measure": measure.replace("_", " "),
                "columns": [c for c in results.ranking(measure) if "=" in str(c)],
                "rows": results.ranking(measure).to_dict("records"),
            }
            for measure in study.measures
        ],
        "figures": [] if study.panels else _grids(results),
        "curves": _curves(results),
        "costs": _costs(results) if study.twins else [],
        "fewest": twins.FEWEST,
        "limits": bool(results.sums["asymptotic_share"].notna().any()),
        "regret": _picture(study_figures.regret(study, results.curves)),
        "key": Markup(study_figures.key(study)),
        "settings": len(study.cells),
        "seeds": study.seeds,
        "best": BEST in results.tunings,
        "tables": [
            f"tables/study-{study.name}-{table}.{f}" for table in _tables(results) for f in FORMATS
        ],
    }


def _grids(results: StudyResults) -> list[dict[str, Any]]:
    """Pictures of the mistakes at the horizon."""
    return [
        {
            "measure": measure.replace("_", " "),
            "tuning": tuning,
            "pictures": [
                Markup(picture)
                for picture in study_figures.grids(results.study, results.final, measure, tuning)
            ],
        }
        for measure in results.study.measures
        for tuning in results.tunings
    ]


def _curves(results: StudyResults) -> list[dict[str, Any]]:
    """Pictures over the rounds: one for each tuning where the study says what has a panel."""
    study, sums = results.study, results.curves
    if not study.panels:
        return [
            {"tuning": None, "picture": Markup(study_figures.curves(study, sums, measure))}
            for measure in study.measures
        ]
    return [
        {"tuning": tuning, "picture": Markup(study_panels.curves(study, sums, measure, tuning))}
        for measure in study.measures
        for tuning in study.tunings
    ]


def _costs(results: StudyResults) -> list[dict[str, Any]]:
    """The cost of bandit feedback by each measure: a table, and a picture of the best tunings."""
    study, shown = results.study, results.tunings[-1]
    found = []
    for measure, table in results.costs.items():
        rows = twins.summary(twins.longest(table[table["tuning"] == shown]))
        found.append(
            {
                "measure": measure.replace("_", " "),
                "axes": [c for c in rows.columns if c in study.grid and c != "horizon"],
                "rows": rows.to_dict("records"),
                "tuning": shown,
                "picture": Markup(study_panels.costs(study, table, shown)),
            }
        )
    return found


def _picture(text: str | None) -> Markup | None:
    return None if text is None else Markup(text)


def _finding(finding: Finding, rows: Sequence[Comparison]) -> dict[str, Any]:
    return {
        "says": finding.says,
        "where": ", ".join(
            [
                finding.tuning
                if finding.tuning == finding.right_tuning
                else f"{finding.tuning} against {finding.right_tuning}",
                *(f"{axis} {' or '.join(map(str, v))}" for axis, v in finding.where.items()),
                *([f"largest over smallest {finding.along}"] if finding.along else []),
                *([finding.measure.replace("_", " ")] if finding.measure != "mistakes" else []),
            ]
        ),
        "expected": _expected(finding),
        "word": overall(rows),
        "rows": rows,
    }


def _expected(finding: Finding) -> str:
    least, most = finding.legal
    if finding.relation == "level":
        return f"{least:.3g} to {most:.3g}"
    return f"above {least:.3g}" if math.isinf(most) else f"at most {most:.3g}"


def overall(rows: Sequence[Comparison]) -> str:
    """One word for a finding: it disagrees where a single pair does."""
    words = {row.word for row in rows}
    if not words:
        return "undecided"
    return next(word for word in ("disagrees", "undecided", "agrees") if word in words)


def _tables(results: StudyResults) -> dict[str, pd.DataFrame]:
    found = {}
    for measure in results.study.measures:
        suffix = "" if measure == results.study.measures[0] else f"-{measure.replace('_', '-')}"
        found[f"ranking{suffix}"] = results.ranking(measure)
        found[f"settings{suffix}"] = results.settings_table(measure)
        if results.study.twins:
            costs = results.costs[measure]
            found[f"costs{suffix}"] = costs[(costs["share"] * 100).round() % FIFTH == 0]
    rows = [
        {
            "finding": finding.says,
            "tuning": finding.tuning,
            "left": row.left,
            "right": row.right,
            "expected": _expected(finding),
            "ratio": row.ratio,
            "low": row.low,
            "high": row.high,
            "seeds": row.seeds,
            "result": row.word,
        }
        for finding, compared in results.compared()
        for row in compared
    ]
    if rows:
        found["findings"] = pd.DataFrame(rows)
    return found


def frames_of(results: StudyResults) -> dict[str, pd.DataFrame]:
    """The tables of a study, by names that begin with its own."""
    return {f"study-{results.study.name}-{k}": table for k, table in _tables(results).items()}
