"""What there is, and what a replayed certificate says."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..errors import unknown


def table_of(what: str) -> Table:
    """The table of ``boundcheck list``.

    Raises
    ------
    UserError
        for anything but claims, learners, adversaries, graphs and studies
    """
    makers = {
        "claims": _claims,
        "learners": _learners,
        "adversaries": _adversaries,
        "graphs": _graphs,
        "studies": _studies,
    }
    if what not in makers:
        raise unknown("list", what, makers)
    return makers[what]()


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=column in ("claim", "name", "kind", "form"))
    return table


def _claims() -> Table:
    from ..verify import catalog

    table = _table("claim", "kind", "form", "proof", "statement in words, source, why")
    for claim in catalog.claims().values():
        words = f"{escape(claim.title)} [dim]({escape(claim.source.number)})[/]"
        for i, form in enumerate(claim.forms):
            first = i == 0
            table.add_row(
                claim.id if first else "",
                claim.kind.value if first else "",
                form.name,
                form.proof.value,
                f"{words if first else ''}{' - ' if first else ''}{escape(form.why)}",
            )
    return table


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


def _learners() -> Table:
    from ..verify import catalog

    table = _table("name", "what it is")
    for name, made in catalog.learners().items():
        tunings = getattr(made, "tunings", {})
        if len(set(tunings.values())) == 1:
            tunings = {"any tuning": next(iter(tunings.values()))}
        table.add_row(f"[bold]{name}[/]", escape(_first_line(made)))
        table.add_row("  parameters", escape(_parameters(made)))
        for tuning, numbers in tunings.items():
            table.add_row(f"    {tuning}", escape(numbers))
        table.add_row("  graphs", escape(made.graphs))
        table.add_row("  source", escape(made.source))
    table.caption = (
        "T rounds, K labels, X bounds the norms of the features, B that of the comparators"
    )
    table.caption_justify = "left"
    return table


def _adversaries() -> Table:
    from ..verify import catalog

    table = _table("name", "parameters", "what it is")
    for name, made in catalog.adversary_classes().items():
        table.add_row(name, escape(_parameters(made)), escape(_first_line(made)))
    return table


def _graphs() -> Table:
    from ..algorithms import graphs

    table = _table("name", "with three labels: actions x labels")
    for name in graphs.names():
        graph = graphs.parse(name, 3)
        rows = " / ".join("".join("1" if seen else "." for seen in row) for row in graph.observes)
        facts = f"revealing {list(graph.revealing)}, domination number {graph.domination_number}"
        table.add_row(graph.name, f"{rows}   {escape(facts)}")
    return table


def _studies() -> Table:
    from ..verify import study

    table = _table("name", "cases", "learners", "what it is")
    for name in study.names():
        found = study.load(name)
        size = f"{len(found.cells)} settings x {found.seeds} seeds"
        words = f"{escape(found.title)} [dim]({escape(found.source)})[/]"
        table.add_row(name, size, escape(", ".join(found.learners)), words)
    return table


def replayed(path: Path) -> list[Any]:
    """What ``boundcheck replay`` prints about an accepted certificate.

    Raises
    ------
    UserError
        if the certificate is rejected
    """
    from ..verify.replay import replay

    found = replay(path)
    relation = "above" if found.claim.relation == "<=" else "below"
    lines: list[Any] = [
        f"[bold]{escape(found.claim.id)}[/] ({found.form.name}): {escape(found.claim.title)}",
        f"[dim]{escape(str(found.claim.source))}[/]",
        f"  {escape(found.form.statement)}",
        "",
    ]
    columns = list(found.rows[-1])
    if len(found.rows) == 1:
        table = _table("name", "value")
        for name in columns:
            table.add_row(name, escape(_short(found.rows[0][name])))
    else:
        table = _table(*columns)
        for row in found.rows:
            table.add_row(*(escape(_short(row[name])) for name in columns))
    return [
        *lines,
        table,
        "",
        f"[green]accepted[/]: every number follows from the others, and the observed side"
        f" {found.observed:.10g} lies {relation} the envelope {found.envelope:.10g}.",
    ]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        shown = ", ".join(_short(item) for item in value[:12])
        return f"[{shown}{', ...' if len(value) > 12 else ''}]"
    return str(value)
