"""Certificates of games with some of their values changed, and the digest made to fit: every one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from forging import mutated, within, write
from mail import Mail

from boundcheck.errors import UserError
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.outcome import digest_of

GAMES = {
    "played": ("evil.py:Wrong", "one-hot:noise=0.1", "gappletron/lemma-1", 1),
    "statistical": ("evil.py:Wrong", "adv.py:Waves", "gappletron/theorem-4a", 60),
}


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The content of a certificate of each kind."""
    folder = tmp_path_factory.mktemp("mail")
    mail, found = Mail(folder), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for kind, game in GAMES.items():
            found[kind] = json.loads(mail.certificate(*game).read_text("utf-8"))
            assert found[kind]["kind"] == kind
    found["folder"] = {"path": str(folder)}
    return found


def _attack(
    genuine: dict[str, dict[str, Any]], kind: str, tries: int, seed: int, folder: Path
) -> None:
    random = Random(seed)
    content = {name: value for name, value in genuine[kind].items() if name != "digest"}
    for _ in range(tries):
        changed = mutated(content, random, strange=0.2)
        if json.dumps(changed) == json.dumps(content):
            continue
        changed["digest"] = digest_of(changed)
        path = write(changed, folder)
        with pytest.raises(UserError):  # and nothing else
            replay(path, trust=True)


@pytest.mark.parametrize(("kind", "tries"), [("played", 60), ("statistical", 6)])
def test_a_changed_value_is_refused(
    kind: str,
    tries: int,
    genuine: dict[str, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(genuine["folder"]["path"])
    assert replay(write(genuine[kind], tmp_path), trust=True).content["kind"] == kind
    _attack(genuine, kind, tries, 1, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", GAMES)
def test_many_changed_values_are_refused(
    kind: str,
    seed: int,
    genuine: dict[str, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(genuine["folder"]["path"])
    with within(300):
        _attack(genuine, kind, 30, seed + 100, tmp_path)
