"""The lists of ``boundcheck list``, and the text of a replayed certificate."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ...errors import require, unknown
from ...verify.claim import is_named
from . import columns
from .columns import Entry
from .console import DEFAULT_FOLDER

GRAPHS = {
    "full": "every action shows every label; full-information is the same",
    "bandit": "an action shows whether it is the label",
    "filtering": "filtering:revealing=0+2: actions 0 and 2 show every label, the others nothing",
    "label-efficient": "one action more, which shows every label; the others show nothing",
    "cops-and-robbers": "an action shows every label but its own, which then is known too",
    "random": "random:density=0.3,seed=7: each action shows each label with that probability",
    "FILE.csv": "a 0/1 matrix, a line for each action, a column for each label",
    "FILE.edgelist": "an action and a label it shows, in each line",
}
"""The values of --graph, with their meaning."""


def show(console: Console, what: str, names: Sequence[str] = ()) -> None:
    """Print what ``boundcheck list`` shows.

    Parameters
    ----------
    what : claims, learners, adversaries, graphs, studies or headrooms
    names : globs of those that are shown; for headrooms the folder that ``verify`` wrote, or its verdicts.json

    Raises
    ------
    UserError
        for anything else, a glob that names nothing, and results that are not there or damaged
    """
    if what == "headrooms":
        from . import headrooms

        headrooms.show(console, _results(names))
        return
    for i, entries in enumerate(_listed(what, names)):
        if i:
            console.print()
        columns.show(console, entries)


def as_json(what: str, names: Sequence[str] = ()) -> str:
    """The same as a JSON list, with an object for each entry: its cells by their columns, and the words below them.

    Raises
    ------
    UserError
        as :func:`show` does
    """
    if what == "headrooms":
        from . import headrooms

        tables = [headrooms.entries(_results(names))]
    else:
        tables = _listed(what, names)
    found = [
        {name: _plain(cell) for name, cell in entry.cells.items() if name}
        | {"words": _plain(entry.words)}
        for entries in tables
        for entry in entries
    ]
    return json.dumps(found, indent=1, ensure_ascii=False)


def _plain(markup: str) -> str:
    return Text.from_markup(markup, emoji=False).plain


def _results(names: Sequence[str]) -> Path:
    require(
        len(names) <= 1,
        f"headrooms of {', '.join(names)}: expected one folder of results, or its verdicts.json.",
    )
    return Path(names[0]) if names else DEFAULT_FOLDER


def _listed(what: str, names: Sequence[str]) -> list[list[Entry]]:
    """The entries of each table of a list whose first cells the globs name, all of them without globs."""
    makers = {
        "claims": _claims,
        "learners": _learners,
        "adversaries": _adversaries,
        "graphs": _graphs,
        "studies": _studies,
    }
    if what not in makers:
        raise unknown("list", what, [*makers, "headrooms"])
    tables = makers[what]()
    if not names:
        return tables
    known = [_plain(next(iter(entry.cells.values()))) for entries in tables for entry in entries]
    for name in names:
        if not fnmatch.filter(known, name):
            raise unknown(f"name in list {what}", name, known, f"globs of what list {what} shows")
    chosen = (
        [e for e in entries if is_named(_plain(next(iter(e.cells.values()))), names)]
        for entries in tables
    )
    return [entries for entries in chosen if entries]


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _claims() -> list[list[Entry]]:
    from ...verify import catalog

    entries = [
        Entry(
            {
                "claim": claim.id,
                "form": form.name,
                "proof": form.proof.value,
                "kind": claim.kind.value,
            },
            f"{escape(claim.title)} [dim]({escape(claim.source.number)}); {escape(form.why)}[/]",
        )
        for claim in catalog.claims().values()
        for form in claim.forms
    ]
    return [entries]


def _first_line(made: Any) -> str:
    return " ".join((made.__doc__ or "").split("\n\n")[0].split())


def _parameters(made: type[Any]) -> str:
    fields = [field for field in dataclasses.fields(made) if field.init]
    return ", ".join(f"{field.name}={_default(field)}" for field in fields) or "-"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING:
        return "?"
    if field.default is None:
        return "tuned"
    return str(getattr(field.default, "spec", field.default))


def _values(made: type[Any]) -> str:
    """The legal values of the fields that are words; each module names them in capitals, in the plural."""
    from ...algorithms import losses, optimisers

    module = vars(sys.modules[made.__module__])
    known = {"loss": module.get("LOSSES", losses.FORMS), "optimiser": optimisers.NAMES} | {
        name[:-1].lower(): value
        for name, value in module.items()
        if name.isupper() and not isinstance(value, str)  # an interval has no words
    }
    fields = [field.name for field in dataclasses.fields(made) if field.init]
    return "; ".join(f"{name}: {', '.join(known[name])}" for name in fields if name in known)


def _learners() -> list[list[Entry]]:
    from ...verify import catalog

    return [
        [
            *(_learner(name, made, game.learner_noun) for name, made in game.learners().items()),
            Entry({game.learner_noun: "FILE.py:Class"}, game.learner_help),
        ]
        for game in catalog.games().values()
    ]


def _learner(name: str, made: type[Any], noun: str) -> Entry:
    tunings = getattr(made, "tunings", {})
    if len(set(tunings.values())) == 1:
        tunings = {"any": next(iter(tunings.values()))}
    graphs = getattr(made, "graphs", "")
    lines = [
        f"{escape(_first_line(made))} [dim]{escape(getattr(made, 'source', ''))}[/]".removesuffix(
            " [dim][/]"
        ),
        f"parameters: {escape(_parameters(made))}",
        escape(_values(made)),
        *(f"tuning {tuning}: {escape(numbers)}" for tuning, numbers in tunings.items()),
        f"graphs: {escape(graphs)}" if graphs else "",
    ]
    return Entry({noun: name}, "\n".join(line for line in lines if line))


def _adversaries() -> list[list[Entry]]:
    from ...verify import catalog

    return [
        [
            *(
                _adversary(name, made, game.adversary_noun)
                for name, made in game.adversaries().items()
            ),
            Entry({game.adversary_noun: "FILE.py:Class"}, game.adversary_help),
        ]
        for game in catalog.games().values()
    ]


def _adversary(name: str, made: type[Any], noun: str) -> Entry:
    lines = [_first_line(made), f"parameters: {_parameters(made)}", _values(made)]
    return Entry({noun: name}, "\n".join(escape(line) for line in lines if line))


def _graphs() -> list[list[Entry]]:
    from ...algorithms import graphs

    entries = []
    for name in graphs.names():
        graph = graphs.parse(name, 3)
        rows = " / ".join("".join("1" if seen else "." for seen in row) for row in graph.observes)
        facts = f"revealing {list(graph.revealing)}, domination number {graph.domination_number}"
        words = f"{GRAPHS[name]}\nwith three labels, actions x labels: {rows}   {facts}"
        entries.append(Entry({"graph": graph.name}, escape(words)))
    files = {name: words for name, words in GRAPHS.items() if name not in graphs.names()}
    return [[*entries, *(Entry({"graph": name}, escape(words)) for name, words in files.items())]]


def _studies() -> list[list[Entry]]:
    from ...verify.studies import study

    entries = []
    for name in study.names():
        found = study.load(name)
        size = f"{len(found.cells)} settings x {found.seeds} seeds"
        words = (
            f"{escape(found.title)} [dim]({escape(found.source)})[/]"
            f"\nlearners: {escape(', '.join(found.learners))}"
        )
        entries.append(Entry({"study": name, "cases": size}, words))
    return [
        [
            *entries,
            Entry(
                {"study": "FILE.toml", "cases": ""},
                "your study; boundcheck study --template prints one to start from",
            ),
        ]
    ]


def replayed(path: Path, trust: bool = False) -> list[Any]:
    """The lines that ``boundcheck replay`` prints about an accepted certificate; ``trust`` as there.

    Raises
    ------
    UserError
        if the certificate is rejected
    """
    from ...verify.certificates.replay import replay

    found = replay(path, trust)
    relation = "above" if found.observed > found.envelope else "below"
    lines: list[Any] = [
        f"[bold]{escape(found.claim.id)}[/] ({found.form.name}): {escape(found.claim.title)}",
        f"[dim]{escape(str(found.claim.source))}[/]",
        f"  {escape(found.form.statement)}",
        "",
    ]
    names = found.form.names
    observed, envelope = (
        (f"{escape(name)} =" for name in names) if names else ("the observed side", "the envelope")
    )
    columns = list(found.rows[-1])
    if len(found.rows) == 1:
        table = _table("name", "value")
        for name in columns:
            table.add_row(escape(name), escape(_short(found.rows[0][name])))
    else:
        table = _table(*columns)
        for row in found.rows:
            table.add_row(*(escape(_short(row[name])) for name in columns))
    return [
        *lines,
        table,
        "",
        f"[green]accepted[/]: every number follows from the others, and {observed}"
        f" {found.observed:.10g} lies {relation} {envelope} {found.envelope:.10g}.",
    ]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        shown = ", ".join(_short(item) for item in value[:12])
        return f"[{shown}{', ...' if len(value) > 12 else ''}]"
    return str(value)
