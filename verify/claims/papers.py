"""The papers whose statements are judged."""

from __future__ import annotations

from ..claim import Source

GAPPLETRON = Source(
    "van der Hoeven, Fusco and Cesa-Bianchi",
    "Beyond Bandit Feedback in Online Multiclass Classification",
    2021,
)

BOOSTING = Source("Zhang, Jung and Tewari", "Online Multiclass Boosting with Bandit Feedback", 2019)
