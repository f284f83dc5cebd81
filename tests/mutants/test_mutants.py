"""A claim that cannot catch a broken learner is decoration: every mutant meets its declared fate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import flawed_baselines
import mutant_boosters
import pytest
from declared import MUTANTS
from judged import Mutant, as_declared, caught, fails, fate, played, refuting

from boundcheck import RefutedPromise, UserError, check_learner
from boundcheck.verify.certificates.replay import replay

CAUGHT = [mutant for mutant in MUTANTS if mutant.kind in ("caught", "refused")]
CHEAP = frozenset({"boosting/bandit-wlc"})
"""The first of the conditions on weak learners; it takes many runs in plain Python until all are refuted."""
RIGHT = sorted({m.family for m in [*flawed_baselines.MUTANTS, *mutant_boosters.MUTANTS]})
BELOW = [mutant for mutant in MUTANTS if mutant.kind == "below"]


@pytest.mark.parametrize("mutant", CAUGHT, ids=lambda mutant: mutant.id)
def test_a_mutant_is_caught_by_the_claims_that_must_catch_it(mutant) -> None:
    few = CHEAP & mutant.caught_by or mutant.caught_by
    assert caught(replace(mutant, caught_by=few)), mutant.why


@pytest.mark.parametrize("right", RIGHT)
def test_those_claims_do_not_catch_the_right_learner(right: str) -> None:
    """Those in plain Python are in the tests of right learners."""
    of_it = [mutant.caught_by for mutant in MUTANTS if mutant.family == right]
    control = Mutant("nothing", right, right, frozenset().union(*of_it), "", "caught")
    for rows in played(control, sorted(control.caught_by)):
        assert not refuting(rows)
        assert not fails(rows)


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_caught_by_no_other_claim(mutant) -> None:
    found = fate(mutant)
    assert as_declared(mutant, found), (found, mutant.why)


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", BELOW, ids=lambda mutant: mutant.id)
def test_what_the_quick_scale_cannot_see_is_caught_at_the_default_one(mutant) -> None:
    assert caught(mutant, "default"), mutant.why


def test_sixty_mutants_are_declared_and_their_names_differ() -> None:
    assert len(MUTANTS) >= 60
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    assert all(mutant.why for mutant in MUTANTS)


def test_claims_about_gappletron_catch_something() -> None:
    found = frozenset().union(*(mutant.caught_by for mutant in MUTANTS))
    names = ("algorithm-1", "bound-9", "guarantee-4", "lemma-1", "lemma-2", "theorem-3a", "updates")
    assert {f"gappletron/{name}" for name in names} | {"game/no-peeking"} <= found


def test_the_game_stops_where_it_is_said_to() -> None:
    """One that is refused fails in its first round, before anything is judged."""
    for mutant in CAUGHT:
        if mutant.kind == "refused":
            rows = next(iter(played(mutant)))
            assert fails(rows)
            assert not refuting(rows)


def test_a_certificate_of_the_updates_replays_until_the_learner_changes(tmp_path: Path) -> None:
    """The learner is in the library's own form and comes from a file, which the certificate names."""
    file = tmp_path / "half_steps.py"
    program = (
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from broken import Broken, resized_step\n\n"
        "class HalfSteps(Broken):\n"
        "    def __init__(self):\n"
        "        super().__init__(gamma=1.0, update=resized_step(0.5))\n"
    )
    file.write_text(program, encoding="utf-8")
    with pytest.raises(RefutedPromise, match=r"updates.*run 0, round \d+") as caught:
        check_learner(f"{file}:HalfSteps", claims=["gappletron/updates"], graph="bandit")
    assert caught.value.certificate is not None
    certificate = caught.value.certificate.write(tmp_path)
    assert replay(certificate, trust=True).claim.id == "gappletron/updates"
    file.write_text(program.replace("0.5", "1.0"), encoding="utf-8")
    with pytest.raises(UserError, match="not the one that was refuted"):
        replay(certificate, trust=True)
