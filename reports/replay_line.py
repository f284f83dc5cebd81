"""The command that replays a certificate, as terminal and page print it: whole, so that it runs as it stands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..verify.certificates.reading import read
from ..verify.certificates.trust import classes_in


@dataclass(frozen=True)
class ReplayLine:
    """A command for a shell, in two parts.

    Attributes
    ----------
    command : the command with its options
    certificate : the path of the certificate, quoted where need be
    """

    command: str
    certificate: str

    def __str__(self) -> str:
        return f"{self.command} {self.certificate}"

    @classmethod
    def of(
        cls, content: Mapping[str, Any], path: Path | str, claims_file: Path | str | None
    ) -> ReplayLine:
        """The command for a certificate with this content, of a claim from a file of the user's if one is given."""
        trust = ["--trust"] if classes_in(content) else []
        claims = [] if claims_file is None else ["--claims", str(claims_file)]
        place = f"./{path}" if str(path).startswith("-") else str(path)
        return cls(shlex.join(["boundcheck", "replay", *trust, *claims]), shlex.quote(place))


@dataclass(frozen=True)
class ReplayLines:
    """The commands for some certificates.

    Attributes
    ----------
    where : the folder in which they run
    lines : the commands
    """

    where: str
    lines: list[ReplayLine]


def replay_lines(
    names: Sequence[str], folder: Path, page: Path, claims_file: str | None
) -> ReplayLines:
    """The commands that a page shows.

    Parameters
    ----------
    names : certificates, as the results name them
    folder : of the results
    page : folder of the page
    claims_file : file of the user's with the claims that were judged
    """
    contents = [_content(folder / name) for name in names]
    if claims_file is None and not any(map(_reads_files, contents)):
        start, where = page, "the folder of this page"
    else:  # whose names are relative to where they were given
        start, where = Path(), "the folder in which verify ran"
    paths = [Path(relpath(folder / name, start)).as_posix() for name in names]
    pairs = zip(contents, paths, strict=True)
    return ReplayLines(where, [ReplayLine.of(*pair, claims_file) for pair in pairs])


def _content(path: Path) -> dict[str, Any]:
    try:
        return read(path)
    except UserError:  # it says so when it is replayed
        return {}


def _reads_files(content: Mapping[str, Any]) -> bool:
    """True if replaying a certificate needs other files: classes, data, or a graph."""
    game = content.get("game")
    if not isinstance(game, dict):
        return False
    data = str(game.get("adversary")).startswith("data:")
    return data or Path(str(game.get("graph"))).suffix != "" or bool(classes_in(content))
