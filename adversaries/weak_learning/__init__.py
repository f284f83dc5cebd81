"""Adversaries of weak learners: labels, weights and costs, what is shown of them, and predictions with an edge."""

from __future__ import annotations

from .oracles import labels_with_edge

__all__ = ["labels_with_edge"]
