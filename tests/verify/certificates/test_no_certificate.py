"""Files that are no certificates, or that readers may take in two ways: one sentence each, at once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import boundcheck
from forging import forged, write

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates import reading
from boundcheck.verify.certificates.make import header
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.exact.numbers import LARGEST_POWER, rational
from boundcheck.verify.outcome import digest_of


def _horizon(**changes: object) -> str:
    """A genuine certificate of Theorem 7, as text, with fields of its instance changed."""
    claim = catalog.claims()["gappletron/theorem-7"]
    fields = {"n_labels": 2, "radius": 2, "horizon": 3}
    content = forged(claim, claim.form("printed"), "horizon", fields)
    assert content is not None
    return json.dumps(content | {"instance": fields | changes}, ensure_ascii=False)


def _as(text: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return lambda path: path.write_bytes(text.encode(encoding, "surrogatepass"))


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(reading.LARGEST_FILE + 1)


def _other_first(text: str, **fields: object) -> str:
    """The text with fields before those that are there."""
    return "{" + json.dumps(fields)[1:-1] + ", " + text[1:]


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "another claim first": (
        _as(_other_first(_horizon(), claim="gappletron/lemma-1", form="repaired")),
        "has the field 'claim' twice",
    ),
    "other sides first": (
        _as(_other_first(_horizon(), sides={"observed": "0"})),
        "the field 'sides' twice",
    ),
    "the same twice": (_as(_other_first(_horizon(), schema=3)), "the field 'schema' twice"),
    "twice, deeper": (
        _as(_horizon().replace('"n_labels": 2', '"n_labels": 3, "n_labels": 2')),
        "'n_labels' twice",
    ),
    "twice, escaped": (
        _as(_horizon().replace('"n_labels": 2', '"n_\\u006cabels": 3, "n_labels": 2')),
        "'n_labels' twice",
    ),
    "folder": (lambda path: path.mkdir(), "a folder, a pipe or a device"),
    "pipe": (lambda path: os.mkfifo(path), "a folder, a pipe or a device"),
    "device": (lambda path: path.symlink_to(os.devnull), "a folder, a pipe or a device"),
    "link to a pipe": (
        lambda path: (os.mkfifo(path.with_name("p")), path.symlink_to("p"))[0],
        "a folder, a pipe or a device",
    ),
    "link to itself": (lambda path: path.symlink_to(path.name), "cannot be read"),
    "half of a pair": (_as(_horizon(words="\ud800")), "not JSON: byte"),
    "half of a pair, escaped": (
        _as(_horizon(words="x").replace('"x"', '"\\ud800"')),
        "half of a surrogate pair",
    ),
    "in a name of a field": (
        _as(_horizon(words="x").replace('"words"', '"\\udfff"')),
        "half of a surrogate pair",
    ),
    "latin-1": (_as(_horizon(words="\xe9"), "latin-1"), "no text in UTF-8"),
    "utf-16": (_as(_horizon(), "utf-16"), "no text in UTF-8"),
    "empty": (_as(""), "not JSON"),
    "large": (_sparse, "67,108,865 bytes: expected at most 67,108,864"),
    "large float": (_as(_horizon(radius="X").replace('"X"', "1e999")), "too large a number"),
    "long number": (_as(_horizon(radius="X").replace('"X"', "9" * 5000)), "4300 digits"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_certificate_gets_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make, words = REFUSED[name]
    make(tmp_path / "c.json")
    assert boundcheck("replay", "c.json", monkeypatch=monkeypatch, folder=tmp_path) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert words in line
    assert "c.json" in line
    assert printed.out == ""


def test_a_name_with_a_null_character_is_refused() -> None:
    with pytest.raises(UserError, match="cannot be read: embedded null"):
        replay(Path("a\0.json"))


def test_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(_horizon(), encoding="utf-8-sig")
    assert path.read_bytes()[:3] == b"\xef\xbb\xbf"
    assert replay(path).claim.id == "gappletron/theorem-7"


@pytest.mark.parametrize("text", ["1e1000000000", "-1E+9999999999 ", "1e-1_000_000_000", "0e99999"])
def test_exponents_that_would_fill_the_memory_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exponent beyond 4,096"):
        rational(text)
    claim = catalog.claims()["gappletron/condition-2"]
    instance = {"loss": "logistic-K", "scores": [text, "0"], "label": 1}
    content = header("exact", claim, claim.form("printed"))
    content |= {"instance_kind": "scores", "instance": instance, "derived": {}, "sides": {}}
    with pytest.raises(UserError, match=r"malformed.*exponent beyond 4,096"):
        replay(write(content | {"digest": digest_of(content)}, tmp_path))


def test_other_exponents_are_read() -> None:
    assert rational("1e-3") == Fraction(1, 1000)
    assert rational(f"25E-{LARGEST_POWER}") == Fraction(25, 10**LARGEST_POWER)
    assert rational("5e-324") == Fraction("5e-324")
