"""Weak learners as a user would write them for a booster: a right one, and some that are wrong."""

from __future__ import annotations

import random
from typing import Any


class Reader:
    """Reads the label where ``one-hot`` writes it, and declares so."""

    edge, delta, excess_loss = 0.9, 1e-3, 1.0

    def __init__(self, problem: Any) -> None:
        self.problem = problem

    def predict(self, x: Any) -> Any:
        return int(x.argmax())

    def update(self, x: Any, cost: Any, weight: float) -> None:
        pass


class Boastful(Reader):
    """Declares the same and always says one label."""

    def predict(self, x: Any) -> Any:
        return 0


class Modest(Reader):
    edge = 0.5


class Unsure(Reader):
    delta = 0.1


class Sure(Reader):
    edge = 1.0


class Drawing:
    """Draws labels from its seed, and declares nothing."""

    def __init__(self, problem: Any) -> None:
        self.draw = random.Random(problem.seed)
        self.n_labels = problem.n_labels

    def predict(self, x: Any) -> Any:
        return self.draw.randrange(self.n_labels)

    def update(self, x: Any, cost: Any, weight: float) -> None:
        pass


class Sharing(Drawing):
    """Every instance draws from the same dice."""

    dice = random.Random(1)

    def predict(self, x: Any) -> Any:
        return self.dice.randrange(self.n_labels)


class Beyond(Drawing):
    def predict(self, x: Any) -> Any:
        return 7


class Fraction(Drawing):
    def predict(self, x: Any) -> Any:
        return 1.0


class Late(Drawing):
    """Fails in its third round, whatever it was told before."""

    seen = 0

    def predict(self, x: Any) -> Any:
        self.seen += 1
        if self.seen == 3:
            raise KeyError("lost")
        return 0


class Deaf(Drawing):
    def update(self, x: Any, cost: Any, weight: float) -> None:
        raise RuntimeError("not listening")


class Writes(Drawing):
    def update(self, x: Any, cost: Any, weight: float) -> None:
        cost[0] = 9.0


class Broken(Drawing):
    def __init__(self, problem: Any) -> None:
        raise RuntimeError("no")


class Blind:
    """Has no predict."""

    def __init__(self, problem: Any) -> None:
        pass

    def update(self, x: Any, cost: Any, weight: float) -> None:
        pass


class Stubborn:
    """Has no update."""

    def __init__(self, problem: Any) -> None:
        pass

    def predict(self, x: Any) -> Any:
        return 0
