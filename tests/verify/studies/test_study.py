"""Studies: what a file may say, the sentence for what it may not, and cases that depend on nothing else."""

from __future__ import annotations

import json
import math
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from small_study import SMALL, small

from boundcheck.errors import UserError
from boundcheck.verify.studies import study as studies
from boundcheck.verify.studies.template import TEMPLATE


def test_cases_are_all_cells_of_a_seed_before_the_next_seed() -> None:
    cases = small().cases()
    assert [(c.content["seed"], c.content["axes"]["keyword_scale"]) for c in cases] == [
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
    ]
    content = cases[1].content
    assert content["adversary"] == "keywords:keyword_scale=2,n_labels=6,noise=0.1"
    assert (content["features"], content["labels"], content["horizon"]) == (80, 6, 50)
    assert [(name, tuning) for name, tuning, _, _ in content["learners"]] == [
        ("Guesser", "any"),
        ("Gap", "ones"),
        ("Gap", "theory"),
    ]


def test_the_key_is_that_of_the_content_and_every_change_changes_it() -> None:
    keys = [case.key for case in small().cases()]
    assert len({*keys}) == 4
    again = studies.StudyCase(json.loads(small().cases()[0].json))
    assert again.key == keys[0]
    backwards = dict(reversed(small().cases()[0].content.items()))
    assert studies.StudyCase(backwards).key == keys[0]
    longer = small(grid={**small().document["grid"], "horizon": 51}).cases()
    other = small(learners={"Guesser": "uniform"}).cases()
    assert not {*keys} & {case.key for case in [*longer, *other]}


def test_more_seeds_keep_the_cases_of_the_first_ones() -> None:
    assert [case.key for case in small(seeds=3).cases()][:4] == [c.key for c in small().cases()]


def test_checkpoints_are_log_spaced_and_end_at_the_horizon() -> None:
    assert studies.checkpoints(1) == [1]
    assert studies.checkpoints(8) == [1, 2, 4, 5, 8]
    long = studies.checkpoints(10_000)
    assert long[0] == 1
    assert long[-1] == 10_000
    assert all(math.isclose(b / a, math.sqrt(2), rel_tol=0.01) for a, b in pairwise(long[14:]))


@pytest.mark.parametrize("name", studies.names())
def test_built_in_studies_can_be_played(name: str) -> None:
    study = studies.load(name)
    assert study.title != name
    assert study.source
    cases = study.cases()
    assert len({case.key for case in cases}) == len(cases) == study.seeds * len(study.cells)
    assert study.findings


@pytest.mark.parametrize("name", ["bandit", "smoke", "filtering", "label-efficient"])
def test_a_finding_has_the_tuning_that_its_words_say(name: str) -> None:
    """With full information and in the study of boosters the words name none."""
    tunings = {"theoretical tuning": "theory", "T alone": "ones", "better tuning": "best"}
    for finding in studies.load(name).findings:
        (tuning,) = (tuning for words, tuning in tunings.items() if words in finding.says)
        assert finding.tuning == tuning, finding.says


def test_the_template_is_a_study() -> None:
    study = studies.parse("mine", tomllib.loads(TEMPLATE))
    assert len(study.cases()) == 20
    assert study.tunings == ("ones", "theory")
    assert study.findings[0].where == {"noise": (0.0,)}


def test_a_file_that_is_named_is_part_of_the_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data.csv"
    data.write_text("a,b,label\n1,0,x\n0,1,y\n1,1,x\n")
    grid = {"adversary": "data:data.csv@label", "graph": "full"}
    first = small(grid=grid).cases()
    assert first[0].content["horizon"] == 3
    data.write_text("a,b,label\n1,0,x\n0,1,y\n1,1,y\n")
    assert small(grid=grid).cases()[0].key != first[0].key


def changed(section: str, **changes: Any) -> dict[str, Any]:
    return {section: {**tomllib.loads(SMALL)[section], **changes}}


FINDING = {"says": "x", "left": "Gap", "right": "Guesser", "relation": "at most", "tuning": "ones"}

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "key": (
        {"seed": 3},
        r"unknown key of study 'small' 'seed' \(did you mean 'seeds'\?\): expected one of ",
    ),
    "zero seeds": ({"seeds": 0}, "seeds = 0: expected how many, an integer of at least 1"),
    "half a seed": ({"seeds": 1.5}, "seeds = 1.5"),
    "no seeds by true": ({"seeds": True}, "seeds = True"),
    "measure": (
        {"measures": ["errors"]},
        "unknown measure of study 'small' 'errors': expected one of",
    ),
    "cell": (
        changed("grid", noise=[0.1, 1.5]),
        "cell adversary=keywords, keyword_scale=1, noise=1.5, graph=bandit, horizon=50 of study 'small' is"
        r" impossible: noise=1.5 of keywords: expected a number in \[0, 1\]",
    ),
    "axis": (
        changed("grid", depth=3),
        "cell .*depth=3.* is impossible: unknown parameter of 'keywords' 'depth'",
    ),
    "graph": (changed("grid", graph="bandid"), "is impossible: unknown graph"),
    "cell of a graph": (
        changed("grid", graph=["bandit", "filtering:revealing=6"], n_labels=[6, 12]),
        "cell .*n_labels=6.* is impossible: parameter revealing=6 is not legal",
    ),
    "empty axis": (changed("grid", noise=[]), "axis 'noise' of study 'small' is empty"),
    "value twice": (
        changed("grid", noise=[0.1, 0.1]),
        "axis 'noise' of study 'small' has a value twice",
    ),
    "no rounds": (changed("grid", horizon=0), "axis 'horizon' of study 'small' has the value 0"),
    "half a round": (
        changed("grid", horizon=2.5),
        "has the value 2.5: expected a positive number, an integer",
    ),
    "radius": (
        changed("grid", radius=math.inf),
        "axis 'radius' of study 'small' has the value inf",
    ),
    "no horizon": (
        {"grid": {"adversary": "keywords", "graph": "bandit"}},
        "is impossible: horizon is None",
    ),
    "no adversary": ({"grid": {"graph": "bandit"}}, "has no axis 'adversary'"),
    "no learners": ({"learners": {}}, "learners is a table of at least one learner"),
    "learner": (
        {"learners": {"A": "banditrom"}},
        "learner 'A' of study 'small', tuning 'any': unknown learner 'banditrom'",
    ),
    "number for a learner": (
        {"learners": {"A": 3}},
        "learner 'A' of study 'small' is 3: expected a spec",
    ),
    "tuning best": ({"learners": {"A": {"best": "uniform"}}}, "has the tuning 'best'"),
    "learner for other graphs": (
        {"learners": {"Probe": "segment-probe"}},
        "learner 'Probe' of study 'small' cannot play cell .*graph=bandit.*: .*filtering.*The built-in learners"
        r" that can: (\S+, )*gappletron, (\S+, )*uniform\.",
    ),
    "too many": ({"seeds": 10**7}, "has 20000000 cases: expected at most 1000000"),
    "finding key": ({"findings": [{**FINDING, "say": 1}]}, "unknown key of a finding .* 'say'"),
    "finding learner": (
        {"findings": [{**FINDING, "left": "Gab"}]},
        "unknown learner of finding 'x' .* 'Gab'",
    ),
    "finding tuning": ({"findings": [{**FINDING, "tuning": "two"}]}, "unknown tuning of finding"),
    "finding relation": (
        {"findings": [{**FINDING, "relation": "<"}]},
        "unknown relation of finding",
    ),
    "finding axis": ({"findings": [{**FINDING, "where": {"nose": 1}}]}, "unknown axis of finding"),
    "finding value": (
        {"findings": [{**FINDING, "where": {"noise": 0.3}}]},
        "unknown value of axis 'noise'",
    ),
    "finding along": (
        {"findings": [{**FINDING, "relation": "rises"}]},
        "has along = None: expected an axis",
    ),
    "finding factor": ({"findings": [{**FINDING, "factor": 0}]}, "factor=0 of finding"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_study_is_said_in_one_sentence(name: str) -> None:
    changes, sentence = WRONG[name]
    with pytest.raises(UserError, match=sentence) as caught:
        small(**changes).cases()
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    text = (studies.FOLDER / "smoke.toml").read_text("utf-8")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8-sig")
    assert studies.load(str(tmp_path / "mine.toml")).document == studies.load("smoke").document


def test_files_that_are_no_studies(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"unknown study 'smok' \(did you mean 'smoke'\?\): expected FILE.toml or"
    ):
        studies.load("smok")
    with pytest.raises(UserError, match="cannot be read: No such file"):
        studies.load(str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_text("seeds = \n")
    with pytest.raises(UserError, match=r"is no TOML file: .*line 1"):
        studies.load(str(broken))
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="is no TOML file"):
        studies.load(str(broken))
