"""Nothing that a certificate names is run before its reader says so, and nothing whose hash is another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mail import Mail

from boundcheck.algorithms.spec import user_class, user_class_in
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.user_files.load import names_a_file, only, source_of


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mail:
    monkeypatch.chdir(tmp_path)
    return Mail(tmp_path)


GAMES = {
    "learner": ("evil.py:Wrong", "one-hot:noise=0.1", "gappletron/lemma-1", 1),
    "adversary": (
        "gappletron:loss=smooth-hinge,optimiser=unprojected,gamma=1",
        "adv.py:Switch",
        "gappletron/guarantee-4",
        1,
    ),
    "both": ("evil.py:Wrong", "adv.py:Waves", "gappletron/lemma-1", 1),
    "sampled": ("evil.py:Wrong", "one-hot:noise=0.1", "gappletron/theorem-4a", 60),
}


@pytest.mark.parametrize("game", GAMES)
def test_what_a_certificate_names_runs_with_trust_only(game: str, mail: Mail) -> None:
    path = mail.certificate(*GAMES[game])
    with pytest.raises(UserError) as refused:
        replay(path)
    sentence = str(refused.value)
    assert "--trust" in sentence
    if game != "adversary":
        assert "class Wrong of the file 'evil.py'" in sentence
    if game in ("adversary", "both"):
        assert "of the file 'adv.py'" in sentence
    assert not mail.ran
    assert replay(path, trust=True).claim.id == GAMES[game][2]
    assert mail.ran


@pytest.mark.parametrize(("game", "file"), [("learner", "evil.py"), ("both", "adv.py")])
def test_a_file_that_has_changed_is_not_run_even_with_trust(
    game: str, file: str, mail: Mail
) -> None:
    path = mail.certificate(*GAMES[game])
    with (mail.folder / file).open("a") as changed:
        changed.write("# changed\n")
    with pytest.raises(UserError, match="is not the one that was refuted"):
        replay(path, trust=True)
    assert not mail.ran


def _drop(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda game: game.pop(name)


def _put(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda game: game.update(values)


FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "hash of another file": ("learner", _put(learner_source="0" * 64)),
    "no hash": ("learner", _put(learner_source=None)),
    "no field for it": ("learner", _drop("learner_source")),
    "newline after the class": ("learner", _put(learner="evil.py:Wrong\n", learner_source=None)),
    "space after the class": ("learner", _put(learner="evil.py:Wrong ", learner_source=None)),
    "carriage return": ("learner", _put(learner="evil.py:Wrong\r", learner_source=None)),
    "data before it": ("learner", _put(learner="data:evil.py:Wrong", learner_source=None)),
    "as weak learner": (
        "learner",
        _put(learner="online-mbbm:weak=evil.py:Wrong", learner_source=None),
    ),
    "as weak learner, behind another file": (
        "learner",
        _put(learner="online-mbbm:scale=good.py:A,weak=evil.py:Wrong", learner_source=None),
    ),
    "as weak learner with a newline": (
        "learner",
        _put(learner="online-mbbm:weak=evil.py:Wrong\n", learner_source=None),
    ),
    "adversary without hash": ("both", _drop("adversary_source")),
    "adversary with a newline": ("adversary", _put(adversary="adv.py:Switch\n")),
    "adversary in place of a name": ("learner", _put(adversary="evil.py:Wrong")),
    "a list": ("learner", _put(learner=["evil.py:Wrong"])),
    "no class": ("learner", _put(learner="evil.py")),
}


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("name", FORGED)
def test_no_way_of_naming_a_file_evades_its_hash(name: str, trust: bool, mail: Mail) -> None:
    game, change = FORGED[name]
    path = mail.changed(mail.certificate(*GAMES[game]), change)
    with pytest.raises(UserError):
        replay(path, trust)
    assert not mail.ran


def test_a_file_is_run_within_a_replay_only_if_its_hash_was_checked(mail: Mail) -> None:
    """However it comes to be named."""
    with only(()), pytest.raises(UserError, match=r"'evil\.py' is not run: it is named by a file"):
        catalog.learner("evil.py:Wrong")
    with only([mail.folder / "adv.py"]):
        with pytest.raises(UserError, match="is not run"):
            catalog.learner("evil.py:Wrong")
        assert not mail.ran
        catalog.adversary("adv.py:Waves")
    assert mail.ran


@pytest.mark.parametrize(
    "spec",
    [
        "a.py:B", "a/b.py:B", "a\nb.py:B", "a.py:B\n", "a.py:B ", " a.py:B", "a.py\n:B", "a.py:\nB",
        "data:a.py:B", "a.py",
        "x:weak=a.py:B", "x:weak=a.py:B\n", "x:y.py:B", "x:y=z/a.py:B", "ä.py:Ä", "a.py:B:C", "a.py:B.C", "a.pyc:B",
    ],
)  # fmt: skip
def test_all_readers_of_names_agree(spec: str) -> None:
    """What may be loaded as a class of a file has a hash, by the same name."""
    if names_a_file(spec, {}) and not spec.endswith(".py"):
        assert user_class(spec) is not None
        if not spec.startswith("data:"):
            assert user_class_in(spec) == user_class(spec)
    else:
        assert source_of(spec) is None
