"""Playing the cases of a study, on this machine's cores or on a cluster.

A case is played by a pure function of its content, so neither the machine nor the order matters. Workers send back
numbers; only the process that asked writes them down.
"""

from __future__ import annotations

import re
import socket
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import chdir
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...adversaries.sequence import Comparator
from ...algorithms import graphs
from ...arrays import IntArray
from ...errors import UserError, require
from ...pool import each
from .. import catalog
from ..claims.gappletron.theorem_4 import regret_envelope
from ..games.labels import adaptive
from ..games.labels.case import Case
from ..games.labels.play import Game, Run
from ..games.labels.record import BLOCK, MARGIN, Block
from ..games.labels.resolve import fits
from ..setting import Setting
from .digests import digest_of_file
from .store import difference, provenance
from .study import StudyCase, make_adversary

SECONDS_FOR_SCHEDULER = 10

_COMPILING = threading.Lock()  # a dask worker plays several cases in threads


@dataclass(frozen=True)
class Outcome:
    """The result that a worker sends back.

    Attributes
    ----------
    case : what was played
    columns : the columns of the result; empty if it failed
    error, traceback : what was raised; empty if nothing was
    provenance : where the numbers come from
    host, seconds : for the log
    """

    case: StudyCase
    columns: dict[str, list[Any]]
    error: str
    traceback: str
    provenance: dict[str, str]
    host: str
    seconds: float


Outcomes = Generator[Outcome, None, None]


def play(case: StudyCase) -> dict[str, list[Any]]:
    """Play all learners of a case on its stream and return the columns of its result.

    Raises
    ------
    UserError
        for what a learner, a file or the adversary does wrong
    """
    content = case.content
    for path, digest in content["files"].items():
        require(
            digest_of_file(path) == digest,
            f"file '{path}' has changed since the study started: start it again.",
        )
    adversary = make_adversary(content["adversary"])
    reacts, norm = adaptive.is_adaptive(adversary), None
    if reacts:  # each learner meets rounds of its own, and no comparator is known before play
        sequence, norm = adaptive.blank(adversary, content["horizon"]), adaptive.norm_of(adversary)
    else:
        sequence = adversary.sequence(content["horizon"], content["seed"])
    planted = sequence.comparator
    rival = planted if planted is not None and fits(planted, content["radius"]) else None
    columns: dict[str, list[Any]] = {}
    for name, tuning, spec, _ in content["learners"]:
        named = content.get("graphs", {}).get(name, content["graph"])
        graph = graphs.parse(named, sequence.n_labels)
        learner, seed = catalog.learner(spec), content["seed"]
        game = Game(learner, sequence, graph, content["radius"], seed, norm)
        envelope = _envelope(game, rival, content, named)
        with _COMPILING:
            run = adaptive.AdaptiveRun(game, adversary, 0) if reacts else Run(game, 0)
        for row in _sums(game, run, planted, content["checkpoints"], envelope):
            for column, value in {"learner": name, "tuning": tuning, **row}.items():
                columns.setdefault(column, []).append(value)
    return columns


def _envelope(
    game: Game, comparator: Comparator | None, content: Mapping[str, Any], graph: str
) -> Callable[[int], float | None]:
    """The envelope of the regret against a comparator in the ball after some rounds, where there is one."""
    if comparator is None:
        return lambda rounds: None
    names = (game.learner.spec, content["adversary"], graph, content["horizon"])
    case = Case(
        Setting(*names, comparator_norm=game.comparator_norm),
        game.learner,
        None,
        game.graph,
        game.sequence,
        comparator,
        game.comparator_norm,
        game.seed,
    )
    return lambda rounds: regret_envelope(case, rounds)


def _sums(
    game: Game,
    run: Run | adaptive.AdaptiveRun,
    planted: Comparator | None,
    checkpoints: Sequence[int],
    envelope: Callable[[int], float | None],
) -> Iterator[dict[str, Any]]:
    """Play one learner and yield what it adds up to at each checkpoint."""
    declaration = game.player().declaration
    loss = declaration.loss
    best_label_mistakes, comparator_loss = 0, 0.0
    for checkpoint in checkpoints:
        while run.position < checkpoint:
            rounds = min(BLOCK, checkpoint - run.position)
            block = run.advance(rounds, trace=not declaration.weights)
            block.check(game.learner.spec)
            best = block.best if declaration.weights else _likeliest(block, game.graph.n_labels)
            best_label_mistakes += int(np.count_nonzero(best != block.labels))
            if planted is not None and loss is not None:
                counts = loss.counts_for_comparator(block.best, block.column(MARGIN), block.labels)
                end = block.start + len(block)  # not all at once: memory does not grow with T
                scores = planted.scores(game.sequence, block.start, end)
                losses = loss.values(scores, block.labels)
                comparator_loss += float(np.where(counts, losses, 0.0).sum())
        expected, mistakes, surrogate, observed = run.totals.tolist()
        yield {
            "rounds": checkpoint,
            "mistakes": int(mistakes),
            "best_label_mistakes": best_label_mistakes,
            "expected_mistakes": expected,
            "observed_labels": int(observed),
            "surrogate_loss": None if loss is None else surrogate,
            "comparator_loss": None if planted is None or loss is None else comparator_loss,
            "regret_envelope": envelope(checkpoint),
        }


def _likeliest(block: Block, n_labels: int) -> IntArray:
    """The likeliest label of a learner without scores: a booster's choice, apart from its exploration."""
    likeliest: IntArray = block.probabilities[:, :n_labels].argmax(axis=1)
    return likeliest


def attempt(content: Mapping[str, Any]) -> Outcome:
    """Play the case of this content in a worker; whatever is raised comes back as an outcome."""
    case = StudyCase(content)
    columns: dict[str, list[Any]] = {}
    error = trace = ""
    started = time.perf_counter()
    try:
        with threadpool_limits(1), chdir("."):  # a class may go elsewhere
            columns = play(case)
    except UserError as mistake:
        error, trace = str(mistake), traceback.format_exc()
    except Exception as failure:
        error, trace = f"{type(failure).__name__}: {failure}", traceback.format_exc()
    seconds = time.perf_counter() - started
    return Outcome(case, columns, error, trace, provenance(), socket.gethostname(), seconds)


def run_here(cases: Sequence[StudyCase], processes: int) -> Outcomes:
    """Play cases in processes of this machine and yield the outcomes as they come.

    Raises
    ------
    UserError
        if a process is killed
    """
    contents = ((case.content,) for case in cases)
    try:
        yield from each(attempt, contents, min(processes, len(cases)), in_order=False, batch_size=1)
    except BrokenExecutor:
        raise UserError(
            "a worker process was killed, perhaps for want of memory: expected all of them to live;"
            " finished cases are intact, continue with fewer --jobs."
        ) from None


def run_on_dask(cases: Sequence[StudyCase], scheduler: str) -> Outcomes:
    """Play cases on the workers of a dask cluster and yield the outcomes as they come.

    Raises
    ------
    UserError
        if the scheduler does not answer, has no workers, or workers with other sources
    """
    try:
        import distributed
    except ImportError:
        raise UserError(
            "backend 'dask' needs the package distributed, which is not installed: expected"
            " pip install 'boundcheck[cluster]', or backend loky."
        ) from None
    if not re.fullmatch(r"(\w+://)?[^/\s]+:\d+/?", scheduler):
        raise UserError(
            f"dask scheduler '{scheduler}' is no address: expected one such as tcp://127.0.0.1:8786."
        )
    cluster: Any = distributed  # it has no types
    try:
        if "://" not in scheduler or scheduler.startswith("tcp://"):
            _knock(scheduler.rpartition("//")[2].rstrip("/"))
        client = cluster.Client(scheduler, timeout=SECONDS_FOR_SCHEDULER, set_as_default=False)
    except (OSError, OverflowError, ValueError) as error:
        raise UserError(
            f"dask scheduler '{scheduler}' does not answer within {SECONDS_FOR_SCHEDULER} s"
            f" ({type(error).__name__}): expected the address of one that runs, such as"
            " tcp://127.0.0.1:8786."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS_FOR_SCHEDULER)
        except TimeoutError:
            raise UserError(
                f"dask scheduler '{scheduler}' has no workers: expected at least one, as"
                f" dask worker {scheduler} starts it."
            ) from None
        contents = [dict(case.content) for case in cases]
        futures = dict(zip(client.map(attempt, contents, pure=False), cases, strict=True))
        try:
            for future in cluster.as_completed(list(futures), loop=client.loop):
                outcome = _outcome(future, futures[future])
                if reason := difference(outcome.provenance):
                    raise UserError(
                        f"a dask worker on '{outcome.host}' has {reason}: expected the same on all"
                        " machines."
                    )
                yield outcome
                future.release()
        except (CancelledError, OSError) as error:
            raise UserError(
                f"dask scheduler '{scheduler}' answers no longer ({type(error).__name__}): expected it to run"
                " to the end; finished cases are intact, and the same command continues."
            ) from None
        finally:
            client.cancel(list(futures))


def _knock(address: str) -> None:
    """Raise ``OSError`` if nobody listens, or nobody greets as a scheduler does: a client would try longer, and say so
    at length."""
    host, _, port = address.rpartition(":")
    place = (host.strip("[]"), int(port))
    with socket.create_connection(place, timeout=SECONDS_FOR_SCHEDULER / 2) as line:
        if not line.recv(1):
            raise ConnectionError("hung up")


def _outcome(future: Any, case: StudyCase) -> Outcome:
    """The outcome of a case on a cluster; a case that kills its workers has failed."""
    from distributed import KilledWorker

    try:
        found: Outcome = future.result()
    except KilledWorker as error:
        text = f"the workers that played it died: {error}"
        return Outcome(case, {}, text, traceback.format_exc(), provenance(), "", 0.0)
    return found
