"""Comparators of the label game: exact questions, fits, and those that a statement for all U is tried with."""
