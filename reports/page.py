"""One self-contained HTML page of the results: verdicts, statements, evidence, pictures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from ..errors import UserError
from ..verify import catalog, results
from ..verify.claim import Claim, Kind
from . import figures

SHOWN_CASES = 400
"""Rows of a table of cases; the rest is in verdicts.json."""

_ORDER = ("error", "refuted", "undecided", "holds", "vacuous", "not applicable")


def write_page(folder: Path, out: Path | None = None) -> Path:
    """Write the page of a result folder and return its path.

    Parameters
    ----------
    folder : what ``verify`` wrote
    out : file to write; ``index.html`` in the folder when None

    Raises
    ------
    UserError
        if there are no results, or the page cannot be written
    """
    loaded = results.load(folder)
    document = loaded.document
    sections = [
        _section(claim_id, rows, loaded.curves)
        for claim_id, rows in _by_claim(document["results"]).items()
    ]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda x: "–" if x is None else f"{x:.3g}"
    text = environment.get_template("page.html").render(
        suite=document["suite"],
        sections=sections,
        hypotheses=document.get("hypotheses", []),
        counts=Counter(row["verdict"] for row in document["results"]),
        surprises=sum(_surprising(row) for row in document["results"]),
        cells=len(document["results"]),
        order=_ORDER,
    )
    path = folder / "index.html" if out is None else out
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"page '{path}' cannot be written: {error.strerror}; expected a file in a folder that exists."
        ) from None
    return path


def _by_claim(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["claim"]):
        found.setdefault(row["claim"], []).append(row)
    return found


def _surprising(row: dict[str, Any]) -> bool:
    expected, verdict = row["expected"], row["verdict"]
    if expected is None or verdict == expected:
        return False
    return expected == "refuted" or verdict in ("refuted", "error")


def _section(claim_id: str, rows: list[dict[str, Any]], curves: Any) -> dict[str, Any]:
    claim = catalog.claims().get(claim_id)
    forms = []
    for name in sorted({row["form"] for row in rows}):
        chosen = [row for row in rows if row["form"] == name]
        forms.append(_form(claim, name, chosen, curves[curves["claim"] == claim_id]))
    return {
        "id": claim_id.replace("/", "-"),
        "name": claim_id,
        "title": claim.title if claim else "a claim that is no longer known",
        "source": str(claim.source) if claim else "",
        "kind": rows[0]["kind"],
        "forms": forms,
    }


def _form(
    claim: Claim | None, name: str, rows: list[dict[str, Any]], curves: Any
) -> dict[str, Any]:
    form = next((form for form in claim.forms if form.name == name), None) if claim else None
    counts = Counter(row["verdict"] for row in rows)
    picture = None if form is None else figures.statement_svg(form.statement)
    titles = {row["case"]: _short_case(row) for row in rows}
    own = curves[curves["form"] == name]
    certificates = sorted({row["certificate"] for row in rows if row["certificate"]}, key=len)
    relation = claim.relation if claim else "<="
    return {
        "name": name,
        "statement": "" if form is None else form.statement,
        "picture": None if picture is None else Markup(picture),
        "proof": "" if form is None else form.proof.value,
        "why": "" if form is None else form.why,
        "worst": _worst(rows),
        "counts": {verdict: counts[verdict] for verdict in _ORDER if counts[verdict]},
        "runs": sum(row["runs"] for row in rows),
        "rounds": sum(row["rounds"] for row in rows),
        "rows": rows[:SHOWN_CASES],
        "hidden": max(0, len(rows) - SHOWN_CASES),
        "certificates": certificates[:5],
        "n_certificates": len(certificates),
        "ratios": _markup(figures.ratio_figure(rows, relation)),
        "curves": _markup(figures.curve_figure(own, titles)),
        "surprises": sum(_surprising(row) for row in rows),
    }


def _markup(picture: str | None) -> Markup | None:
    return None if picture is None else Markup(picture)


def _worst(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The row that speaks for the form: a surprise, else the largest ratio of the loudest verdict."""
    candidates = [row for row in rows if _surprising(row)] or rows
    loudest = min((row["verdict"] for row in candidates), key=_ORDER.index)
    same = [row for row in candidates if row["verdict"] == loudest]
    expected = [row for row in same if row["expected"] is not None]
    lower = same[0]["kind"] == Kind.LOWER_BOUND
    nearest = min if lower else max
    return nearest(expected or same, key=lambda row: row["ratio"] or 0.0)


def _short_case(row: dict[str, Any]) -> str:
    learner = row["learner"].partition(":")[2] or row["learner"]
    parts = [part.partition("=")[2] or part for part in learner.split(",")]
    adversary = row["adversary"].partition(":")[0]
    return f"{', '.join(parts)}\n{adversary}, {row['graph']}"
