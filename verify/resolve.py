"""From a setting to a case: learner and adversary are made, and the game that the learner plays does the rest."""

from __future__ import annotations

from ..errors import require
from . import catalog
from .games.game import Case
from .setting import Setting


def resolve(setting: Setting, seed: int) -> Case:
    """Make everything that a setting names.

    Raises
    ------
    UserError
        for anything unknown, or parts that do not fit together
    """
    require(
        setting.horizon is None or setting.horizon >= 1,
        f"horizon T={setting.horizon}: expected at least 1.",
    )
    require(setting.runs >= 1, f"runs={setting.runs}: expected at least 1 run.")
    learner, adversary = setting.learner, setting.adversary
    if isinstance(learner, str):
        learner = catalog.learner(learner)
    if isinstance(adversary, str):
        adversary = catalog.adversary(adversary)
    game = catalog.game_of(learner)
    require(
        game.opposes(adversary),
        f"adversary {setting.label('adversary')} plays another game than learner {setting.label('learner')}, which"
        f" plays {game.name}: expected one of {', '.join(game.adversaries())}.",
    )
    return game.resolve(setting, learner, adversary, seed)
