"""Speed and memory of the engine and its learners beside other programs: python tests/benchmarks/engine.py

All play the same documents and take turns, round by round. Time is processor time, and a ratio is the
median of the ratios within a round, so that a busy machine slows both sides. Nothing is asserted about
time. That C and the engine agree, in mistakes and in every bit of the weights, is checked first. Learners are
found as the command line finds them; Vowpal Wabbit and River are measured where they are installed (the extra
``peers``).
"""

from __future__ import annotations

import argparse
import dataclasses
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from peers import PEERS, check_learning
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits
from yardsticks import Result, c_kernel, numpy_loop, perceptron

from boundcheck.adversaries.keywords import Keywords
from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.losses import Hinge, Logistic, Loss, SmoothHinge
from boundcheck.algorithms.optimisers import UnprojectedDescent
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.labels.game import LABELS
from boundcheck.verify.games.labels.play import Game, Run
from boundcheck.verify.games.labels.record import BLOCK, N_COLUMNS

SEED, HORIZON, REPLICATES = 1, 10_000, 4
LONG = 1_000_000
SIZES = ((4, 12), (2, 6))
"""Keyword scale and number of labels; 40 features per unit of scale."""

OFF, ON, LOOP, SKLEARN, C = "engine, records off", "engine, records on", "NumPy", "Perceptron", "C"
WORK = {
    OFF: "scores, top two, gap map, p, draw, loss, update; four sums",
    ON: f"the same, and {N_COLUMNS} columns a round kept in blocks of {BLOCK} rounds",
    LOOP: "the same learner round by round, dense features; mistakes",
    SKLEARN: "scikit-learn, one epoch, full information: no gap map, no p, no draw",
    C: "the same learner by hand, K fixed when compiled; three sums",
}

REFERENCE = "gappletron:loss=smooth-hinge,rule=printed,optimiser=unprojected,gamma=1"
VARIANTS = (
    REFERENCE,
    "gappletron:loss=hinge",
    "gappletron:loss=logistic-2",
    "gappletron:optimiser=ftrl",
    "passive-aggressive:variant=pa-2",
    "banditron:estimator=importance",
    "gaptron:loss=hinge",
    "gaptron:loss=logistic-2",
    "newtron:projection=euclid",
    "soba:exploration=adaptive",
)
"""Measured beside every learner as it comes."""

GRAPHS = ("bandit", "full", "label-efficient", "filtering")
"""A learner plays the first of these that it accepts."""

AIMS = {"newtron": 60.0, "second-order-perceptron": 4.0, "soba": 4.0}
"""Most that a round should cost, in rounds of ``REFERENCE``: 2.5 with a logistic loss, otherwise 1.4."""

Play = Callable[[int], Result]


def engine(sequence: Sequence, *, record: bool, loss: Loss | None = None) -> Play:
    """This engine, with or without the columns of every round."""
    learner = Gappletron(loss or SmoothHinge(), "printed", UnprojectedDescent(), 1.0)
    game = Game(learner, sequence, graphs.bandit(sequence.n_labels), seed=SEED)
    return of_game(game, record=record)


def of_game(game: Game, *, record: bool) -> Play:
    """Replicates of a game."""

    def play(replicate: int) -> Result:
        run = Run(game, replicate)
        while run.position < game.sequence.horizon:
            run.advance(BLOCK, record=record)
        return run.totals[1], run.weights

    return play


def contestants(sequence: Sequence) -> dict[str, Play]:
    """All that can be measured here, by name."""
    plays = {
        OFF: engine(sequence, record=False),
        ON: engine(sequence, record=True),
        LOOP: numpy_loop(sequence, SEED),
        SKLEARN: perceptron(sequence),
        C: c_kernel(sequence, SEED),
    }
    return {name: play for name, play in plays.items() if play is not None}


def check_agreement(plays: dict[str, Play]) -> None:
    """Exit unless the engine, with and without records, and C agree to the last bit."""
    for replicate in range(REPLICATES):
        mistakes, weights = plays[OFF](replicate)
        for name in (ON, C):
            if name in plays:
                other_mistakes, other_weights = plays[name](replicate)
                if mistakes != other_mistakes or not np.array_equal(weights, other_weights):
                    raise SystemExit(f"{name} and {OFF} disagree on replicate {replicate}")


@dataclass(frozen=True)
class Times:
    """Nanoseconds a round, by name: one number for each round of measuring."""

    of: dict[str, list[float]]

    @classmethod
    def measure(cls, plays: dict[str, Play], rounds: int) -> Times:
        """Let all take turns, ``rounds`` times."""
        times = cls({name: [] for name in plays})
        for _ in range(rounds):
            for name, play in plays.items():
                replicates = 1 if name in (LOOP, SKLEARN, *PEERS) else REPLICATES
                begin = time.process_time()
                for replicate in range(replicates):
                    play(replicate)
                seconds = time.process_time() - begin
                times.of[name].append(seconds / (replicates * HORIZON) * 1e9)
        return times

    def cost(self, name: str, other: str) -> str:
        """How many times the time of ``other``."""
        pairs = zip(self.of[name], self.of[other], strict=True)
        return f"{statistics.median(own / theirs for own, theirs in pairs):.2f}"

    def median(self, name: str) -> str:
        """Median time."""
        return f"{statistics.median(self.of[name]):,.0f}"

    def speed(self, name: str, other: str) -> str:
        """How many times as fast as ``other``."""
        if other not in self.of:
            return "-"
        pairs = zip(self.of[other], self.of[name], strict=True)
        return f"{statistics.median(theirs / own for theirs, own in pairs):.2f}"


def speed_table(rounds: int) -> Table:
    """The engine beside the others."""
    table = Table(title=f"T = {HORIZON:,}, one thread; x C = times as fast as C")
    for heading in ("K", "what", "ns/round", f"x {C}", f"x {SKLEARN}", f"x {LOOP}", "mistakes"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for scale, n_labels in SIZES:
        sequence = Keywords(scale, n_labels, 0.05).sequence(HORIZON, SEED)
        plays = contestants(sequence)
        check_agreement(plays)
        times = Times.measure(plays, rounds)
        for name, play in plays.items():
            ratios = [times.speed(name, other) for other in (C, SKLEARN, LOOP)]
            mistakes = "-" if name == SKLEARN else f"{play(0)[0]:,.0f}"
            table.add_row(str(n_labels), name, times.median(name), *ratios, mistakes)
        table.add_section()
    return table


def loss_table(rounds: int) -> Table:
    """Every surrogate loss on the larger data."""
    table = Table(title="Surrogate losses, K = 12, ns/round")
    for heading in ("loss", "records off", "records on", "mistakes"):
        table.add_column(heading, justify="left" if heading == "loss" else "right")
    scale, n_labels = SIZES[0]
    sequence = Keywords(scale, n_labels, 0.05).sequence(HORIZON, SEED)
    choices: tuple[Loss, ...] = (SmoothHinge(), Hinge(), Logistic(2), Logistic(None))
    plays = {
        (loss.spec, record): engine(sequence, record=record, loss=loss)
        for loss in choices
        for record in (False, True)
    }
    mistakes = {key: play(0)[0] for key, play in plays.items()}
    times = Times.measure({f"{spec} {on}": play for (spec, on), play in plays.items()}, rounds)
    for loss in choices:
        medians = [times.median(f"{loss.spec} {on}") for on in (False, True)]
        table.add_row(loss.spec, *medians, f"{mistakes[loss.spec, False]:,.0f}")
    return table


@dataclass(frozen=True)
class Entrant:
    """A learner and the graph it plays, or why there is none."""

    spec: str
    graph: str | None
    reason: str = ""

    @classmethod
    def of(cls, spec: str, sequence: Sequence) -> Entrant:
        """The learner with the tuning of the experiments, on the first graph that it accepts."""
        fields = {field.name for field in dataclasses.fields(catalog.learner(spec))}
        if "tuning" in fields and "tuning=" not in spec:
            spec += ("," if ":" in spec else ":") + "tuning=ones"
        reason = ""
        for graph in GRAPHS:
            try:
                player = cls(spec, graph).game(sequence).player()
            except UserError as error:
                reason = str(error)
                continue
            if player.boosting is not None:
                return cls(spec, None, "its weak learners decide; see tests/benchmarks/boosting.py")
            return cls(spec, graph)
        return cls(spec, None, reason)

    def game(self, sequence: Sequence) -> Game:
        """The learner's game on its graph."""
        graph = graphs.parse(self.graph or "", sequence.n_labels)
        return Game(catalog.learner(self.spec), sequence, graph, seed=SEED)

    def aim(self, sequence: Sequence) -> float:
        """Most that its round should cost."""
        loss = self.game(sequence).player().declaration.loss
        usual = 2.5 if isinstance(loss, Logistic) else 1.4
        return AIMS.get(self.spec.partition(":")[0], usual)


def entrants(sequence: Sequence) -> list[Entrant]:
    """Every learner of labels of the library, and the variants of some."""
    specs = [REFERENCE, *sorted({*LABELS.learners(), *VARIANTS} - {REFERENCE})]
    return [Entrant.of(spec, sequence) for spec in specs]


def learner_table(rounds: int) -> tuple[Table, list[str]]:
    """Every learner, and the peers that are installed, beside Gappletron with the smooth hinge loss.

    Also the learners that are not in it, with the reason.
    """
    table = Table(
        title=f"Cost of a round, records off, T = {HORIZON:,}; x = times that of the first learner"
    )
    for heading in ("K", "learner", "graph", "ns/round", "x", "aim", "mistakes"):
        table.add_column(heading, justify="left" if heading in ("learner", "graph") else "right")
    left_out: list[str] = []
    for scale, n_labels in SIZES:
        sequence = Keywords(scale, n_labels, 0.05).sequence(HORIZON, SEED)
        field = entrants(sequence)
        left_out = [f"{one.spec}: {one.reason}" for one in field if one.graph is None]
        playing = {one.spec: one for one in field if one.graph is not None}
        plays = {spec: of_game(one.game(sequence), record=False) for spec, one in playing.items()}
        peers = {
            name: peer.prepare(sequence, SEED) for name, peer in PEERS.items() if peer.installed
        }
        mistakes = {name: play(0)[0] for name, play in {**plays, **peers}.items()}
        times = Times.measure(plays, rounds)
        for spec, one in playing.items():
            cost = [times.median(spec), times.cost(spec, REFERENCE), f"{one.aim(sequence):g}"]
            table.add_row(str(n_labels), spec, one.graph, *cost, f"{mistakes[spec]:,.0f}")
        for name in peers:
            check_learning(name, mistakes[name], sequence)
        beside = Times.measure({REFERENCE: plays[REFERENCE], **peers}, min(rounds, 5))
        for name in peers:
            cost = [beside.median(name), beside.cost(name, REFERENCE), "-"]
            graph = "bandit" if "cb_explore" in name else "full"
            table.add_row(str(n_labels), name, graph, *cost, f"{mistakes[name]:,.0f}")
        table.add_section()
    return table, left_out


def peak_megabytes() -> float:
    """Largest resident size of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def measure_memory(horizon: int) -> None:
    """Play with records on in this process; print its peak size without the data, in megabytes.

    The longer data are the documents of the short horizon over and over, laid out at once, for making
    and checking new ones needs more memory than playing them.
    """
    scale, n_labels = SIZES[0]
    sequence = Keywords(scale, n_labels, 0.05).sequence(HORIZON, SEED)
    copies = horizon // HORIZON
    ends = sequence.indptr[1:] + sequence.indptr[-1] * np.arange(copies)[:, None]
    repeated = {
        "indptr": np.concatenate(([0], ends.ravel())),
        "indices": np.tile(sequence.indices, copies),
        "values": np.tile(sequence.values, copies),
        "labels": np.tile(sequence.labels, copies),
        "squared_norms": np.tile(sequence.squared_norms, copies),
    }
    size = sum(array.nbytes for array in repeated.values()) / 1e6
    for name, array in repeated.items():
        array.flags.writeable = False
        vars(sequence)[name] = array
    engine(sequence, record=True)(0)
    print(f"{peak_megabytes() - size:.0f} {size:.0f}")


def memory_table() -> Table:
    """Peak sizes, each in a process of its own.

    Made before anything else: a process starts with the peak of the one that started it. The first
    process is not counted, because it may have to compile.
    """
    table = Table(title="Peak resident size with records on, K = 12, MB")
    for heading in ("T", "without the data", "the data"):
        table.add_column(heading, justify="right")
    sizes = {}
    for horizon in (HORIZON, HORIZON, LONG):
        command = [sys.executable, __file__, "--memory", str(horizon)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        sizes[horizon] = done.stdout.split()
    for horizon, megabytes in sizes.items():
        table.add_row(f"{horizon:,}", *megabytes)
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the engine beside other programs.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of measuring (15)")
    parser.add_argument("--memory", type=int, metavar="T", help="only the peak memory at T rounds")
    parser.add_argument("--learners", action="store_true", help="only the learners and peers")
    given = parser.parse_args()
    if given.memory:
        measure_memory(given.memory)
        return
    console, memory = Console(width=120), None if given.learners else memory_table()
    with threadpool_limits(1):
        if memory is not None:
            console.print(speed_table(given.rounds))
            for name, work in WORK.items():
                console.print(f"  {name}: {work}", highlight=False)
            console.print(loss_table(given.rounds))
        table, left_out = learner_table(given.rounds)
    console.print(table)
    for line in left_out:
        console.print(f"  not measured: {line}", highlight=False)
    for name, peer in PEERS.items():
        work = f"less: {peer.less}. More: {peer.more}."
        console.print(f"  {name}: {work if peer.installed else 'not installed'}", highlight=False)
    if memory is not None:
        console.print(memory)


if __name__ == "__main__":
    main()
