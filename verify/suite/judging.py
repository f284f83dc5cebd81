"""Judging the cells of one case: the game is played once for all who look at its rounds, and one claim that fails takes
no other down."""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ...errors import LearnerError, UserError, located, said
from .. import claims as claims_package
from ..claim import Cell, Claim, RoundByRound, Watcher
from ..games.game import Case
from ..judges.decide import decide
from ..outcome import Evidence, Outcome, Verdict

logger = logging.getLogger(__name__)

LEARNER_FAILED = "learner failed"
"""Flag of an error that is the learner's: it raised, or returned no probabilities, in the middle of a run."""

_OURS = Path(__file__).resolve().parents[2]
_ERRORS = _OURS / "errors.py"
_CLAIMS = Path(str(claims_package.__file__)).resolve().parent


def judge_cells(
    case: Case, cells: Sequence[Cell], runs: int, sampled_runs: int | None = None
) -> Iterator[tuple[Cell, Outcome]]:
    """Play a case, let every cell look at it, and decide; runs are taken in order.

    Claims that are judged by sampling play ``sampled_runs`` of them, if given.
    """
    watches = {
        i: judge.watch(cell)
        for i, cell in enumerate(cells)
        if isinstance(judge := cell.claim.judge, RoundByRound)
    }
    watched = _watch(case, cells, watches, runs) if watches else {}
    for i, cell in enumerate(cells):
        if i in watched:
            yield cell, watched[i]
            continue
        judge = cell.claim.judge
        many = sampled_runs if judge.sampled and sampled_runs else runs
        yield cell, _guarded(cell, partial(judge.examine, cell, many))


def _watch(
    case: Case, cells: Sequence[Cell], watches: Mapping[int, Watcher], runs: int
) -> dict[int, Outcome]:
    """Play the runs once for all watchers of cells, and return the outcomes by the positions of the cells."""
    failed: dict[int, Outcome] = {}
    stopped: Outcome | None = None
    try:
        for run in range(runs):
            for rounds in case.play(run):
                for i in watches.keys() - failed.keys():
                    try:
                        watches[i].see(run, rounds)
                    except LearnerError:
                        raise
                    except Exception as error:
                        failed[i] = _failed(cells[i].claim, error)
    except LearnerError as error:
        stopped = Outcome(Verdict.ERROR, evidence=str(error), flags=(LEARNER_FAILED,))
    except UserError:
        raise
    except Exception as error:  # of the game itself, ours
        logger.exception("case %s failed", case.setting.key)
        stopped = Outcome(Verdict.ERROR, evidence=located(error))
    return {
        i: failed.get(i) or stopped or _guarded(cells[i], watch.evidence)
        for i, watch in watches.items()
    }


def _guarded(cell: Cell, examine: Callable[[], Evidence]) -> Outcome:
    """The outcome of a cell; an exception in the code of its claim is an error of this cell alone."""
    try:
        return decide(examine())
    except LearnerError as error:
        return Outcome(Verdict.ERROR, evidence=str(error), flags=(LEARNER_FAILED,))
    except Exception as error:
        return _failed(cell.claim, error)


def _failed(claim: Claim, error: Exception) -> Outcome:
    """The outcome of a claim whose code raised; wrong input that the claim only met on its way is raised again."""
    if isinstance(error, UserError) and not _raised_by_a_claim(error):
        raise error
    logger.debug("claim %s failed", claim.id, exc_info=error)
    return Outcome(Verdict.ERROR, evidence=trouble_in(claim, error))


def trouble_in(claim: Claim, error: Exception) -> str:
    """Type and message of what a claim's code raised, with the file and line of that code."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if _is_a_claims(Path(frame.filename))]
    if theirs:
        return f"{said(error)} ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})"
    return f"{said(error)} ({_defined(claim)})"


def _raised_by_a_claim(error: Exception) -> bool:
    """True if the line that raises, or that calls ``require``, is in a file of claims."""
    files = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    raising = [file for file in files if file.resolve() != _ERRORS]
    return bool(raising) and _is_a_claims(raising[-1])


def _is_a_claims(file: Path) -> bool:
    """True for a file of claims: one in their folder, or of the user's."""
    resolved = file.resolve()
    if resolved.is_relative_to(_CLAIMS):
        return True
    installed = "site-packages" in resolved.parts or resolved.name.startswith("<")
    library = Path(inspect.__file__).resolve().parent
    return not (installed or resolved.is_relative_to(_OURS) or resolved.is_relative_to(library))


def _defined(claim: Claim) -> str:
    """File and line of the function that a claim's judge calls; the id of the claim where there is none."""
    for value in vars(claim.judge).values():
        function = getattr(value, "func", value)  # of a partial
        code = getattr(function, "__code__", None)
        if code is not None and _is_a_claims(Path(code.co_filename)):
            return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
    return claim.id
