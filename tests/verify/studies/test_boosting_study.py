"""Studies whose axes reach the learners: what cells set, who plays which graph, and the sentences for what is wrong."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import pytest
from small_boosting import BOOSTING, boosting
from small_study import small

from boundcheck.errors import UserError
from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies.asymptotic import asymptotic_share


def test_keys_of_studies_without_these_things_do_not_depend_on_them() -> None:
    assert [case.key[:16] for case in small().cases()] == [
        "f7483a49246fccf8",
        "9410895606254a02",
        "1c2462e5836e1459",
        "12018a928b5b2200",
    ]


def test_a_cell_fills_the_places_in_specs_and_a_table_sets_several_things() -> None:
    study = boosting()
    assert study.grid["data"] == ("edge", "wine")
    assert study.tunings == ("low", "high")
    cells = {(c.content["axes"]["data"], c.content["axes"]["N"]): c.content for c in study.cases()}
    wine = cells["wine", 4]
    assert wine["adversary"] == "bundled:name=wine,form=binary"
    assert wine["axes"] == {"N": 4, "graph": "bandit", "data": "wine"}
    assert wine["graphs"] == {"Full": "full"}
    assert [(name, tuning, spec) for name, tuning, spec, _ in wine["learners"]] == [
        ("Full", "any", "online-mbbm:learners=4,gamma=0.1,weak=hedge-stump+rate=1"),
        ("Bandit", "low", "bandit-bbm:learners=4,gamma=0.1,weak=hedge-stump+rate=1,rho=0.1"),
        ("Bandit", "high", "bandit-bbm:learners=4,gamma=0.1,weak=hedge-stump+rate=1,rho=0.4"),
    ]
    assert (
        cells["edge", 1]["learners"][0][2] == "online-mbbm:learners=1,gamma=0.5,weak=oracle-noise"
    )


def test_the_adversary_has_places_too_and_gets_what_no_spec_has_a_place_for() -> None:
    grid = {
        "adversary": "keywords:keyword_scale={scale}",
        "scale": [1, 2],
        "noise": 0.1,
        "graph": "full",
        "horizon": 5,
    }
    written = [case.content["adversary"] for case in small(grid=grid, seeds=1).cases()]
    assert written == [f"keywords:keyword_scale={d},n_labels=6,noise=0.1" for d in (1, 2)]


def test_twins_play_one_stream_on_graphs_of_their_own() -> None:
    case = next(c for c in boosting().cases() if c.content["axes"]["data"] == "edge")
    columns = sweep.play(case)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    last = {(r["learner"], r["tuning"]): r for r in rows if r["rounds"] == 300}
    full, low, high = (last["Full", "any"], last["Bandit", "low"], last["Bandit", "high"])
    assert full["observed_labels"] == 300
    assert low["observed_labels"] == 300 - low["mistakes"]
    # with an exact edge the weak learners vote as they do, whatever they are told: only exploration differs
    assert full["mistakes"] == full["best_label_mistakes"]
    assert low["best_label_mistakes"] == high["best_label_mistakes"] == full["mistakes"]
    for rho, row in ((0.1, low), (0.4, high)):
        right = 300 - full["mistakes"]
        assert row["expected_mistakes"] == pytest.approx(
            right * rho + full["mistakes"] * (1 - rho / 2)
        )


def test_the_share_that_bounds_leave_in_the_limit() -> None:
    known = asymptotic_share("bandit-bbm:learners=32,gamma=0.4,weak=oracle-noise", 5)
    assert known == pytest.approx(4 * math.exp(-2.56))
    assert asymptotic_share("online-mbbm:learners=32,gamma=0.4", 5) == known
    assert asymptotic_share("online-mbbm", 3) == pytest.approx(2 * math.exp(-0.1))
    for other in ("ada-bandit", "uniform", "mine.py:Learner", "online-mbbm:gone=1"):
        assert asymptotic_share(other, 3) is None


def changed(section: str, **changes: Any) -> dict[str, Any]:
    return {section: {**tomllib.loads(BOOSTING)[section], **changes}}


EDGE, WINE = tomllib.loads(BOOSTING)["grid"]["data"]

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "place": (
        changed("learners", Full={"graph": "full", "any": "online-mbbm:learners={M}"}),
        r"unknown place in 'online-mbbm:learners=\{M\}' of learner 'Full' of study 'boosters' '\{M\}'"
        r" \(did you mean '\{N\}'\?\): expected one of .*\{N\}",
    ),
    "place in the adversary": (
        changed("grid", data=[{**EDGE, "adversary": "oracle-labels:learners={M}"}, WINE]),
        r"unknown place in 'oracle-labels:learners=\{M\}' of the adversary of study 'boosters'",
    ),
    "unused axis": (
        changed("grid", M=[1, 2]),
        "cell .*M=1.* is impossible: unknown parameter of 'oracle-labels' 'M'",
    ),
    "value of a place": (
        changed("grid", N=[0, 1]),
        "learner 'Full' of study 'boosters', tuning 'any': learners=0 of online-mbbm: expected an integer",
    ),
    "other keys": (
        changed("grid", data=[EDGE, {"name": "wine", "adversary": "bundled"}]),
        "'edge' and 'wine' on axis 'data' of study 'boosters' do not both set 'gamma, weak'",
    ),
    "no name": (changed("grid", data=[{"adversary": "bundled"}]), "expected a table with a name"),
    "name alone": (changed("grid", data=[{"name": "x"}]), "expected a table with a name"),
    "table among numbers": (
        changed("grid", N=[1, {"name": "x", "y": 1}]),
        "the value 1: expected a table",
    ),
    "name twice": (
        changed("grid", data=[EDGE, EDGE]),
        "axis 'data' of study 'boosters' has a value twice",
    ),
    "set twice": (
        changed("grid", gamma=0.1),
        "the grid of study 'boosters' sets 'gamma' on two axes: expected one",
    ),
    "list in a table": (
        changed("grid", data=[{**EDGE, "gamma": [0.1]}]),
        r"'gamma' of 'edge' on axis 'data' of study 'boosters' has the value \[0.1\]",
    ),
    "own graph": (
        changed("learners", Full={"graph": "fall", "any": "online-mbbm"}),
        "is impossible: unknown graph 'fall'",
    ),
    "own graph that it cannot play": (
        changed("learners", Full={"graph": "bandit", "any": "online-mbbm"}),
        "learner 'Full' of study 'boosters' cannot play cell .* expected full information",
    ),
    "graph alone": (
        changed("learners", Full={"graph": "full"}),
        "learner 'Full' of study 'boosters' is {'graph': 'full'}: expected a spec",
    ),
    "twin": (
        {"twins": {"Bandit": "Fall"}},
        "unknown learner in the twins of study 'boosters' 'Fall'",
    ),
    "learner with a twin": ({"twins": {"Bandid": "Full"}}, "unknown learner in the twins"),
    "own twin": ({"twins": {"Full": "Full"}}, "learner 'Full' of study 'boosters' is its own twin"),
    "no table of twins": ({"twins": "Full"}, "twins is a table"),
    "panels": (
        {"panels": ["data", "horizon"]},
        r"has panels = \['data', 'horizon'\]: expected up to two axes with several values, from N, data",
    ),
    "no list of panels": ({"panels": "data"}, "has panels = 'data': expected up to two axes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_study_is_said_in_one_sentence(name: str) -> None:
    changes, sentence = WRONG[name]
    with pytest.raises(UserError, match=sentence) as caught:
        boosting(**changes).cases()
    assert "\n" not in str(caught.value)
