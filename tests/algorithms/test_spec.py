"""Tests of names with parameters as the command line takes them."""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import re
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest

from boundcheck.algorithms import spec as spec_module
from boundcheck.algorithms.spec import (
    RENAMED,
    Checked,
    check_keys,
    read_float,
    read_int,
    read_ints,
    spec_of,
    split_spec,
    tidy,
    user_file,
)
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.make import game_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("bandit", ("bandit", {})),
        ("banditron:gamma=0.05,x=1", ("banditron", {"gamma": "0.05", "x": "1"})),
        (" one : a = b , c = d ", ("one", {"a": "b", "c": "d"})),
        ("file:path=a:b=c", ("file", {"path": "a:b=c"})),
    ],
)
def test_a_spec_is_a_name_and_parameters(spec: str, expected: tuple[str, dict[str, str]]) -> None:
    assert split_spec(spec) == expected


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", "'' has no name: expected name or name:key=value,key=value"),
        (":a=1", "':a=1' has no name"),
        ("one:", "'' in 'one:' is not a parameter"),
        ("one:a", "'a' in 'one:a' is not a parameter"),
        ("one:a=", "'a=' in 'one:a=' is not a parameter"),
        ("one:=1", "'=1' in 'one:=1' is not a parameter"),
        ("one:a=1,", "'' in 'one:a=1,' is not a parameter: expected name:key=value,key=value"),
        ("one:a=1,a=2", "parameter 'a' is given twice in 'one:a=1,a=2'"),
    ],
)
def test_a_malformed_spec_is_explained(spec: str, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        split_spec(spec)


OLD = {
    "gappletron:update=ftrl,gamma=2": "gappletron:optimiser=ftrl,gamma=2",
    "random-labels:radius=3": "random-labels:comparator_norm=3",
}


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_old_name_is_read_and_noted_once(
    old: str, new: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = catalog.adversary if old.startswith("random") else catalog.learner
    spec_module._renamed.cache_clear()
    assert build(old) == build(old) == build(new)
    (note,) = caplog.messages
    for word in (*re.findall(r"\w+=", old + new), "0.4"):
        assert word == "gamma=" or word in note
    with pytest.raises(UserError, match=r"parameter '\w+' is given twice"):
        build(f"{old},{new.partition(':')[2].partition(',')[0]}")
    assert len(OLD) == len(RENAMED)


def test_worker_processes_do_not_repeat_the_note(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec_module._renamed.cache_clear()
    monkeypatch.setattr(multiprocessing.current_process(), "_name", "LokyProcess-1")
    assert split_spec("gappletron:update=ftrl")[1] == {"optimiser": "ftrl"}
    assert caplog.messages == []
    spec_module._renamed.cache_clear()


def test_a_game_of_an_old_file_keeps_its_words() -> None:
    learner = "gappletron:update=ftrl,gamma=2"
    case = resolve(Setting(learner, "random-labels:radius=2", "full", None), 0)
    found = game_of(case)
    assert (found["learner"], found["adversary"]) == (learner, "random-labels:radius=2")
    assert case.learner == catalog.learner("gappletron:optimiser=ftrl,gamma=2")


def test_an_unknown_key_gets_the_nearest_legal_one() -> None:
    check_keys("banditron", {"gamma": "1"}, ("gamma", "radius"))
    with pytest.raises(UserError) as caught:
        check_keys("banditron", {"gama": "1"}, ("radius", "gamma"))
    assert str(caught.value) == (
        "unknown parameter of 'banditron' 'gama' (did you mean 'gamma'?): expected one of gamma, radius."
    )
    with pytest.raises(UserError, match="'bandit' takes no parameters, but got 'x=1'"):
        check_keys("bandit", {"x": "1"}, ())


@dataclass(frozen=True)
class Sample(Checked):
    n_labels: Annotated[int, "[2, inf)"] = 3
    noise: Annotated[float, "[0, 1]"] = 0.0
    rate: Annotated[float | None, "(0, inf)"] = None
    gamma: Annotated[float | str, "(0, 1]"] = "tuned"
    law: Annotated[str, {"even": 1, "odd": 2}] = "even"
    tie: Annotated[str | None, ("lowest", "random")] = None
    free: float = -1.0


def test_fields_hold_what_they_declare() -> None:
    for given in (
        {},
        {"n_labels": np.int64(2), "noise": 1},
        {"rate": 1e300, "gamma": 1},
        {"tie": "random"},
    ):
        Sample(**given)
    assert Sample(4, 1, gamma=1.0).spec == "sample:n_labels=4,noise=1,gamma=1.0"
    assert spec_of(Sample(noise=0, free=0), every=True) == (
        "sample:n_labels=3,noise=0.0,rate=None,gamma=tuned,law=even,tie=None,free=0"
    )


@pytest.mark.parametrize(("given", "sentence"), [
    ({"n_labels": 1}, "n_labels=1 of sample: expected an integer of at least 2."),
    ({"n_labels": 2.5}, "n_labels=2.5 of sample: expected an integer of at least 2."),
    ({"n_labels": None}, "n_labels=None of sample: expected an integer of at least 2."),
    ({"noise": math.nan}, "noise=nan of sample: expected a number in [0, 1]."),
    ({"noise": "much"}, "noise=much of sample: expected a number in [0, 1]."),
    ({"rate": 0.0}, "rate=0.0 of sample: expected a finite number above 0."),
    ({"rate": math.inf}, "rate=inf of sample: expected a finite number above 0."),
    ({"rate": "1"}, "rate=1 of sample: expected a finite number above 0."),
    ({"gamma": 1.5}, "gamma=1.5 of sample: expected a number in (0, 1]."),
    ({"law": "old"}, "unknown law of sample 'old' (did you mean 'odd'?): expected one of even, odd."),
    ({"law": None}, "unknown law of sample 'None': expected one of even, odd."),
    ({"tie": "last"}, "unknown tie of sample 'last' (did you mean 'lowest'?): expected one of lowest, random."),
])  # fmt: skip
def test_a_field_out_of_its_range_is_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        Sample(**given)
    assert str(caught.value) == sentence


def test_all_fields_of_words_and_numbers_declare_what_is_legal() -> None:
    """But for those that may be anything, or that depend on one another."""
    free = {"segments.environment"}
    free |= {f"{name}.{side}" for name in ("concealed", "leaping") for side in ("along", "across")}
    known = catalog.learners() | catalog.adversaries()
    for name, made in known.items():
        declared = spec_module._declared(made)
        for field in dataclasses.fields(made):
            own = field.name in ("tuning", "weak", "loss", "optimiser", "noise", "rho")
            assert own or field.name in declared or f"{name}.{field.name}" in free, (
                name,
                field.name,
            )


def test_values_are_read_and_defaults_kept() -> None:
    given = {"gamma": "0.05", "seed": "7", "revealing": "0+2"}
    assert read_float(given, "gamma", legal="(0, 1]") == 0.05
    assert read_int(given, "seed") == 7
    assert read_ints(given, "revealing") == (0, 2)
    assert read_float({}, "gamma", 0.0) == 0.0
    assert read_int({}, "seed", 0) == 0
    assert read_ints({}, "revealing", ()) == ()


@pytest.mark.parametrize("text", ["x", "nan", "inf", "0", "1.5", "-1"])
def test_a_number_outside_its_interval_is_refused(text: str) -> None:
    with pytest.raises(UserError) as caught:
        read_float({"gamma": text}, "gamma", legal="(0, 1]")
    assert str(caught.value) == (
        f"parameter gamma={text} is not legal: expected a number in (0, 1]"
    )


@pytest.mark.parametrize(
    ("legal", "inside"),
    [("[0, 1]", (0, 1)), ("(0, 1]", (1,)), ("[0, 1)", (0,)), ("(0, 1)", ())],
)
def test_the_ends_of_an_interval(legal: str, inside: tuple[int, ...]) -> None:
    for end in (0, 1):
        if end in inside:
            assert read_int({"k": str(end)}, "k", legal=legal) == end
        else:
            with pytest.raises(UserError, match=re.escape(legal)):
                read_int({"k": str(end)}, "k", legal=legal)


def test_integers_are_integers() -> None:
    with pytest.raises(UserError, match=r"parameter seed=1\.5 is not legal: expected an integer"):
        read_int({"seed": "1.5"}, "seed")
    with pytest.raises(UserError, match=r"revealing=0\+a is not legal: expected integers in"):
        read_ints({"revealing": "0+a"}, "revealing")
    with pytest.raises(UserError, match=r"integers in \[0, 2\] joined by \+"):
        read_ints({"revealing": "0+3"}, "revealing", legal="[0, 2]")


def test_a_required_value_that_is_missing_is_named() -> None:
    with pytest.raises(UserError, match="parameter 'gamma' is missing: expected a number in"):
        read_float({}, "gamma")
    with pytest.raises(UserError, match="parameter 'seed' is missing: expected an integer in"):
        read_int({}, "seed")
    with pytest.raises(UserError, match="parameter 'revealing' is missing: expected integers in"):
        read_ints({}, "revealing")


def test_a_wrong_interval_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="is not an interval") as caught:
        read_float({"gamma": "1"}, "gamma", legal="positive")
    assert not isinstance(caught.value, UserError)


@pytest.mark.parametrize(
    ("given", "file"),
    [
        ("a/b c.py:Mine", "a/b c.py"),
        ("online-mbbm:weak=a.py:Mine", "a.py"),
        ("online-mbbm:weak=01+1.0.py:Mine,learners=5", "01+1.0.py"),
        ("bandit-bbm:learners=05,weak=/x=y/a.py:Mine", "/x=y/a.py"),
        ("online-mbbm:weak=hedge-stump+rate=0.1,learners=5", None),
        ("data:a.py", None),
        ("perceptron", None),
    ],
)
def test_the_file_of_a_spec_is_found_and_its_path_kept(given: str, file: str | None) -> None:
    assert user_file(given) == file
    assert user_file(tidy(given)) == file
