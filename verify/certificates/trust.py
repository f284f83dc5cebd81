"""Classes of the user's that a certificate names: none of them is run before the user says so.

A certificate may come from anywhere, and so may the file beside it. Its digests say that a file is the one that the
certificate speaks of, and not that it does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...algorithms.spec import UserClass, user_class_in
from ...errors import UserError, require
from ..user_files.load import at, source_of


def classes_in(content: Mapping[str, Any]) -> dict[str, UserClass]:
    """The class of the user's that each part of a certificate's game names, which replaying it runs; an exact
    certificate has no game."""
    game = content.get("game")
    if not isinstance(game, dict):
        return {}
    specs = {part: game.get(part) for part in ("learner", "adversary")}
    found = {part: user_class_in(spec) for part, spec in specs.items() if isinstance(spec, str)}
    return {part: named for part, named in found.items() if named is not None}


def trusted_files(path: Path, content: Mapping[str, Any], trust: bool) -> frozenset[Path]:
    """The files that replaying a certificate may run; each is as the certificate says.

    Raises
    ------
    UserError
        if there are some, and ``trust`` is false or one has changed
    """
    named = classes_in(content)
    what = " and ".join(f"class {each.name} of the file '{each.file}'" for each in named.values())
    require(
        trust or not named,
        f"certificate '{path}' is about {what}, which replay would run: if you know what the file does, allow it with"
        " --trust (in Python, trust=True).",
    )
    game = content.get("game", {})
    for part, (file, _) in named.items():
        # a file that is not there is refused where it is loaded
        if at(file).is_file() and game.get(f"{part}_source") != source_of(game[part]):
            raise UserError(
                f"the file of {part} {game[part]} is not the one that was refuted: it has changed since, or the"
                " certificate has; verify it again."
            )
    return frozenset(at(file).resolve() for file, _ in named.values())
