"""All that the author of a claim needs, in one import: the claim, the judges, and the sides that they compare.

The same names are exported by the package: ``from boundcheck import Claim, Form, Pathwise, Sides``.
"""

from __future__ import annotations

from .certificates.instances import Instance
from .claim import Cell, Claim, Form, Proof, Source
from .exact.numbers import Interval
from .judges.audit import Audit, LowerBound, PerRun, RunSides
from .judges.exact import Check, Exact
from .judges.frontier import Frontier, Reached
from .judges.law import Law
from .judges.mean import Bound, Mean, MeanSides
from .judges.one_round import Comparison, OneRound
from .judges.pathwise import Pathwise, Sides, Suspect
from .judges.tail import Known, Tail, TailSides
from .outcome import Evidence, Kind, Verdict
from .setting import Setting

__all__ = [
    "Audit",
    "Bound",
    "Cell",
    "Check",
    "Claim",
    "Comparison",
    "Evidence",
    "Exact",
    "Form",
    "Frontier",
    "Instance",
    "Interval",
    "Kind",
    "Known",
    "Law",
    "LowerBound",
    "Mean",
    "MeanSides",
    "OneRound",
    "Pathwise",
    "PerRun",
    "Proof",
    "Reached",
    "RunSides",
    "Setting",
    "Sides",
    "Source",
    "Suspect",
    "Tail",
    "TailSides",
    "Verdict",
]
