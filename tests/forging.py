"""Certificates that somebody forged: of any instance, for any form, with every number and the digest made to fit."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates import instances
from boundcheck.verify.certificates.make import header
from boundcheck.verify.claim import Claim, Form
from boundcheck.verify.exact.numbers import Undecided, rational
from boundcheck.verify.outcome import digest_of

BROKEN = (UserError, Undecided, KeyError, TypeError, ValueError, ArithmeticError, IndexError)
"""What an instance raises that is none."""


def forged(claim: Claim, form: Form, kind: str, fields: dict[str, Any]) -> dict[str, Any] | None:
    """The content of a certificate whose sides look violated, whatever the form supposes of its instances; None where
    they do not, or there is no such instance."""
    try:
        instance = instances.from_json(kind, fields, claim.judge.instances)
        sides = claim.judge.exact_sides(instance, form)
        if sides is None:
            return None
        less, more = sides if claim.judge.relation == ">=" else sides[::-1]
        if not less.certainly_less(more):
            return None
        content = header("exact", claim, form) | {
            "instance_kind": kind,
            "instance": instance.to_json(),
            "derived": instance.derived,
            "sides": {"observed": sides[0].to_json(), "envelope": sides[1].to_json()},
        }
        return content | {"digest": digest_of(content)}
    except BROKEN:
        return None


def write(content: dict[str, Any], folder: Path) -> Path:
    """Write the content of a certificate."""
    path = folder / "forged.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def targets(kind: str) -> Iterator[tuple[Claim, Form]]:
    """Every form that has instances of a kind."""
    for claim in catalog.claims().values():
        if kind in {each.kind for each in claim.judge.instances}:
            for form in claim.forms:
                yield claim, form


WORDS = (
    "printed", "threshold", "mixture", "smooth-hinge", "hinge", "hinge-0", "logistic-2", "logistic-K", "error",
    "random", "unprojected", "projected",
)  # fmt: skip


STRANGE = (
    None, True, [], {}, "", "abc", " 1", "1_0", "\u0663", "1/0", "nan", "inf", "1e4000", "-1e-4000", "1e1000000000",
    "1/" + "7" * 4000, 1e308, 1e-308, -1, 10**6, 10**9, 10**18, 2**63, 10**400, "9" * 4000, "\x00", "\u202e",
)  # fmt: skip
"""Values that a reader may stumble over."""


def mutated(fields: dict[str, Any], random: Random, strange: float = 0.0) -> dict[str, Any]:
    """The fields of an instance, or a whole certificate, with one to three values changed; each with probability
    ``strange`` to one that a reader may stumble over."""
    changed = json.loads(json.dumps(fields))
    for _ in range(random.randint(1, 3)):
        holder, key = random.choice(list(_places(changed)))
        if strange and random.random() < strange:
            holder[key] = random.choice(STRANGE)
        else:
            holder[key] = _other(holder[key], random)
    return dict(changed)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        if isinstance(inner, dict | list) and inner:
            yield from _places(inner)
            if isinstance(inner, list):
                yield value, key
        else:
            yield value, key


def _other(value: Any, random: Random) -> Any:
    if isinstance(value, list) and value:
        return random.choice([value[1:], [*value, value[-1]], value[::-1]])
    if isinstance(value, bool | int):
        return random.choice([0, 1, 2, 3, value + 1, value - 1, 2 * value, 10 * value])
    if isinstance(value, float):
        return random.choice([0.0, 1.0, -value, 2 * value, value * (1 + 2**-50), value + 1])
    if isinstance(value, str) and value in WORDS:
        return random.choice(WORDS)
    try:
        number = Fraction(rational(value))
    except (TypeError, ValueError, ZeroDivisionError):
        return random.choice(WORDS)
    others = (
        0,
        1,
        -number,
        number / 2,
        number * 3,
        Fraction(1, 2),
        Fraction(9, 10),
        1 - number,
        number + 1,
    )
    return str(Fraction(random.choice(others)))


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Interrupt what takes longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
