"""Judging the cells of one case: the game is played once for all who look at its rounds, and one claim that fails takes
no other down."""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import LearnerError, UserError, located, said
from .. import claims as claims_package
from ..claim import Cell, Claim
from ..games.game import Case
from ..judges.decide import decide
from ..outcome import Evidence, Outcome, Verdict

logger = logging.getLogger(__name__)

LEARNER_FAILED = "learner failed"
"""Flag of an error that is the learner's: it raised, or returned no probabilities, in the middle of a run."""

_OURS = Path(__file__).resolve().parents[2]
_CLAIMS = Path(str(claims_package.__file__)).resolve().parent


def judge_cells(
    case: Case, cells: Sequence[Cell], runs: int, sampled_runs: int | None = None
) -> Iterator[tuple[Cell, Outcome]]:
    """Play a case, let every cell look at it, and decide; runs are taken in order.

    Claims that are judged by sampling play ``sampled_runs`` of them, if given.
    """
    watching = [cell for cell in cells if hasattr(cell.claim.judge, "watch")]
    seen = _watch(case, watching, runs)
    for cell in cells:
        if id(cell) in seen:
            yield cell, seen[id(cell)]
            continue
        many = sampled_runs if cell.claim.judge.sampled and sampled_runs else runs
        yield (
            cell,
            _guarded(cell, lambda cell=cell, many=many: cell.claim.judge.examine(cell, many)),
        )


def _watch(case: Case, cells: Sequence[Cell], runs: int) -> dict[int, Outcome]:
    """Of the cells that look at every round the outcomes, by the identity of the cell."""
    watches: dict[int, Any] = {id(cell): cell.claim.judge.watch(cell) for cell in cells}  # type: ignore[attr-defined]
    by_id = {id(cell): cell for cell in cells}
    found: dict[int, Outcome] = {}
    try:
        for run in range(runs if watches else 0):
            for rounds in case.play(run):
                for key in [key for key in watches if key not in found]:
                    try:
                        watches[key].see(run, rounds)
                    except (LearnerError, UserError):
                        raise
                    except Exception as error:
                        found[key] = _failed(by_id[key].claim, error)
    except LearnerError as error:
        failed = Outcome(Verdict.ERROR, evidence=str(error), flags=(LEARNER_FAILED,))
        return found | {key: failed for key in watches if key not in found}
    except UserError:
        raise
    except Exception as error:
        logger.exception("case %s failed", case.setting.key)
        failed = Outcome(Verdict.ERROR, evidence=located(error))
        return found | {key: failed for key in watches if key not in found}
    for key, watch in watches.items():
        if key not in found:
            found[key] = _guarded(by_id[key], watch.evidence)
    return found


def _guarded(cell: Cell, examine: Any) -> Outcome:
    """The outcome of a cell; what its own code raises is its own trouble."""
    try:
        evidence: Evidence = examine()
        return decide(evidence)
    except LearnerError as error:
        return Outcome(Verdict.ERROR, evidence=str(error), flags=(LEARNER_FAILED,))
    except UserError:
        raise
    except Exception as error:
        return _failed(cell.claim, error)


def _failed(claim: Claim, error: Exception) -> Outcome:
    logger.debug("claim %s failed", claim.id, exc_info=error)
    return Outcome(Verdict.ERROR, evidence=trouble_in(claim, error))


def trouble_in(claim: Claim, error: Exception) -> str:
    """Type and message of what a claim's code raised, with the file and line of that code."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if _is_a_claims(Path(frame.filename))]
    if theirs:
        return f"{said(error)} ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})"
    return f"{said(error)} ({_defined(claim)})"


def _is_a_claims(file: Path) -> bool:
    """Whether a file holds claims: it lies in their folder, or is a user's."""
    resolved = file.resolve()
    if resolved.is_relative_to(_CLAIMS):
        return True
    installed = "site-packages" in resolved.parts or resolved.name.startswith("<")
    library = Path(inspect.__file__).resolve().parent
    return not (installed or resolved.is_relative_to(_OURS) or resolved.is_relative_to(library))


def _defined(claim: Claim) -> str:
    """Where the function that a claim's judge calls is defined; its id where there is none."""
    for value in vars(claim.judge).values():
        function = getattr(value, "func", value)  # of a partial
        code = getattr(function, "__code__", None)
        if code is not None and _is_a_claims(Path(code.co_filename)):
            return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
    return claim.id
