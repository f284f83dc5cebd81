"""One self-contained HTML page of the results: verdicts, statements, evidence, pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import count
from os.path import relpath
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from ... import __version__
from ...atomic import put
from ...errors import UserError
from ...verify import catalog
from ...verify.claim import Claim
from ...verify.outcome import LOUDEST_FIRST, Kind, Verdict
from ...verify.suite import results
from ...verify.user_files.load import only
from .. import outputs
from ..replay_line import replay_lines
from ..studies.section import StudyResults, section
from ..studies.section import frames_of as study_frames
from ..terminal.progress import progress
from ..terminal.tables import speaker
from . import figures, panels
from .exports import FOLDER, file_names, files_of, frames_of
from .figures import Result
from .frontiers import frontier_panels
from .statements import statement_svg

SHOWN_CASES = 400
"""Rows of a table of cases; the rest is in verdicts.json."""

SHOWN_CERTIFICATES = 5

FORCED = "gappletron/theorem-6"
"""The claim whose picture is over many horizons."""

MEANING = {
    Kind.PATHWISE: "an envelope smaller by that factor would have been violated in one of these rounds",
    Kind.MEAN: "an envelope smaller by that factor would have been refuted by these runs",
    Kind.TAIL: "one of these runs reaches an envelope smaller by that factor",
    Kind.FRONTIER: "a known S smaller by that factor would have been refuted by these runs",
}
"""The meaning of the headroom, for each kind of claim."""


@only(())  # what results name is not run
def write_report(
    folder: Path,
    out: Path | None = None,
    found: Sequence[StudyResults] = (),
    *,
    verdicts: bool = True,
    quiet: bool = True,
) -> list[Path]:
    """Write the page of a result folder and of studies and, beside it, its tables as files.

    Parameters
    ----------
    folder : what ``verify`` wrote; with studies it need not have written anything
    out : file to write, or folder for ``index.html``, which is any name without a suffix; that of the results
        when None
    found : studies to show as well
    verdicts : whether to show what ``verify`` wrote; without it there must be a study
    quiet : show no progress

    Returns
    -------
    all paths, the page first

    Raises
    ------
    UserError
        if there are no results, or the page cannot be written
    """
    if found and not (verdicts and (folder / results.VERDICTS).exists()):
        loaded = results.Results({"suite": None, "results": []}, pd.DataFrame(columns=["claim"]))
    else:
        loaded = results.load(folder)
    document, rows = loaded.document, loaded.document["results"]
    path = _page(folder, out)
    outputs.check_page(path)
    claims = _by_claim(rows)
    total = len(claims) + len(found)
    with progress(total, quiet=quiet, first="drawing", then="drawing") as advance:
        sections = []
        for name, part in claims.items():
            sections.append(_section(name, part, loaded.curves, document["suite"]["level"]))
            advance(1, 0)
        studies = []
        for study in found:
            studies.append(section(study))
            advance(1, 0)
    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent, Path(__file__).parent.parent / "studies"]),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["plural"] = _plural
    environment.filters["measured"] = lambda value: "–" if value != value else _number(value)
    environment.filters["broken"] = _broken
    environment.filters["path"] = lambda name: _broken(name, "/")
    environment.filters["located"] = lambda name: Path(
        relpath(folder / name, path.parent)
    ).as_posix()
    claims_file = (document["suite"] or {}).get("claims_file")
    environment.filters["replays"] = lambda names: replay_lines(
        names, folder, path.parent, claims_file
    )
    text = environment.get_template("page.html").render(
        suite=document["suite"],
        version=__version__,
        sections=sections,
        tables=[f"{FOLDER}/{name}" for name in file_names(rows)],
        band=[f"{100 * q:g}" for q in panels.BAND],
        hypotheses=document.get("hypotheses", []),
        counts=Counter(row["verdict"] for row in rows),
        surprises=[row for row in rows if _surprising(row)],
        cases=len({row["case"] for row in rows}),
        cells=len(rows),
        order=LOUDEST_FIRST,
        level=document["suite"]["level"] if document["suite"] else None,
        studies=studies,
    )
    frames = frames_of(rows) if rows else {}
    for study in found:
        frames |= study_frames(study)
    files = files_of(frames, path.parent / FOLDER) | {path: _unique_ids(text).encode()}
    try:
        if studies or path != out:
            path.parent.mkdir(parents=True, exist_ok=True)
        if frames:
            (path.parent / FOLDER).mkdir(exist_ok=True)
        put(files)
    except OSError as error:
        raise UserError(
            f"page '{path}' cannot be written: {error.strerror}; expected a file in a folder that exists."
        ) from None
    return [path, *(each for each in files if each != path)]


def _page(folder: Path, out: Path | None) -> Path:
    """The file that the page goes to."""
    if out is None:
        return folder / "index.html"
    names_a_folder = out.is_dir() or not (out.suffix or out.is_file())
    return out / "index.html" if names_a_folder else out


def _number(value: float | None, digits: int = 3) -> str:
    if value is None:
        return "–"
    whole = 10**digits <= abs(value) < 1e6
    return (f"{value:,.0f}" if whole else f"{value:.{digits}g}").replace("-", "−")


def _plural(n: int, word: str, words: str | None = None) -> str:
    return f"{n} {word}" if n == 1 else f"{n:,} {words or word + 's'}"


def _broken(spec: str, after: str = ",") -> Markup:
    """A spec that may go on in the next line after each of its commas, or a path after its slashes."""
    return Markup(f"{after}<wbr>").join(escape(part) for part in spec.split(after))


def _unique_ids(page: str) -> str:
    """The page with the ids of each picture made unique; each was drawn as if it were alone."""
    numbers = count()

    def rename(picture: re.Match[str]) -> str:
        prefix = f"s{next(numbers)}-"
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", picture[0])

    return re.sub(r"<svg.*?</svg>", rename, page, flags=re.DOTALL)


def _by_claim(rows: list[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for row in sorted(rows, key=lambda row: row["claim"]):
        found.setdefault(row["claim"], []).append(row)
    return found


def _surprising(row: Result) -> bool:
    return bool(row["surprising"])


def _section(
    claim_id: str, rows: list[Result], curves: pd.DataFrame, level: float
) -> dict[str, Any]:
    claim = catalog.claims().get(claim_id)
    part = curves[curves["claim"] == claim_id]
    return {
        "id": re.sub(r"[^\w.-]", "-", claim_id),
        "name": claim_id,
        "title": claim.title if claim else "a claim that is not built in",
        "source": str(claim.source) if claim else "",
        "kind": rows[0]["kind"],
        "forms": [
            _form(
                claim,
                name,
                [r for r in rows if r["form"] == name],
                part[part["form"] == name],
                level,
            )
            for name in sorted({row["form"] for row in rows})
        ],
    }


def _form(
    claim: Claim | None, name: str, rows: list[Result], curves: pd.DataFrame, level: float
) -> dict[str, Any]:
    form = next((form for form in claim.forms if form.name == name), None) if claim else None
    relation = claim.judge.relation if claim else "<="
    seen = Counter(row["verdict"] for row in rows)
    worst = speaker(rows)
    certificates = {row["certificate"] for row in rows if row["certificate"]}
    forced = claim is not None and claim.id == FORCED
    observed = form.names[0] if form and form.names else "mistakes"
    drawn = [] if forced else panels.panels(curves, rows, observed)
    # first the cases that a reader looks for
    ranked = sorted(
        rows,
        key=lambda r: (not _surprising(r), LOUDEST_FIRST.index(r["verdict"]), -(r["ratio"] or 0.0)),
    )
    return {
        "name": name,
        "statement": "" if form is None else form.statement,
        "picture": None if form is None else _markup(statement_svg(form.statement)),
        "proof": "" if form is None else form.proof.value,
        "why": "" if form is None else form.why,
        "worst": worst,
        "counts": {verdict: seen[verdict] for verdict in LOUDEST_FIRST if seen[verdict]},
        "cases": len(rows),
        "runs": sum(row["runs"] for row in rows),
        "rounds": sum(row["rounds"] for row in rows),
        "rows": ranked[:SHOWN_CASES],
        "certificates": sorted(certificates, key=lambda c: (c != worst["certificate"], c))[
            :SHOWN_CERTIFICATES
        ],
        "n_certificates": len(certificates),
        "relation": relation,
        "observed": observed,
        "below": any(row["ratio"] is not None and row["ratio"] <= 0 for row in rows),
        "ratios": _markup(_legible(figures.ratio_figure(rows, relation))),
        "panels": drawn,
        "drawn": {panel.row["verdict"] for panel in drawn},
        "frontiers": frontier_panels(ranked),
        "forced": _markup(panels.forced_figure(curves, rows)) if forced else None,
        "strength": _strength(worst, level),
        "surprises": sum(_surprising(row) for row in rows),
    }


def _legible(picture: str | None) -> str | None:
    """The picture, never narrower than three quarters of its size: beyond that it scrolls."""
    if picture is None or (size := re.search(r'width="([\d.]+)pt"', picture)) is None:
        return picture
    narrowest = f'<svg style="min-width: {0.75 * float(size[1]):.0f}pt"'
    return picture.replace("<svg", narrowest, 1)


def _markup(picture: str | None) -> Markup | None:
    return None if picture is None else Markup(picture)


def _strength(row: Result, level: float) -> str:
    """The strength of a row's verdict in words: its headroom, and the probability of a false alarm."""
    words = []
    if row["headroom"] is not None and row["kind"] in MEANING:
        words.append(f"headroom {_number(row['headroom'])}: {MEANING[row['kind']]}")
    words.append(_plural(row["runs"], "run") if row["runs"] else "without sampling")
    if row["verdict"] == Verdict.VACUOUS:
        words.append("nothing could have failed")
    elif row["kind"] in (Kind.MEAN, Kind.TAIL, Kind.FRONTIER) and row["runs"]:
        words.append(f"a false alarm has probability at most {level:g}")
    elif row["verdict"] == Verdict.REFUTED:
        words.append("certified, so that it is no false alarm")
    elif row["verdict"] != Verdict.ERROR:
        words.append("a refutation would be certified, never a false alarm")
    return "; ".join(words)
