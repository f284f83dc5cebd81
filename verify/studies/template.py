"""The study that ``boundcheck study --template`` prints, to start from."""

from __future__ import annotations

TEMPLATE = """\
# A study: boundcheck study mine.toml && boundcheck report --study results/mine
title = "Two losses and a guesser"
seeds = 5                                  # seeds 0 to 4; each is one stream for all learners

[grid]                                     # every combination of the axes is played
adversary = "keywords"                     # boundcheck list adversaries; or data:FILE.csv@COLUMN
keyword_scale = [1, 2]                     # parameters of the adversary, or {places} in learners' specs
noise = [0.0, 0.1]
graph = "bandit"                           # boundcheck list graphs
horizon = 2000
radius = 1.0                               # bound on the comparator's norm that learners are told

[learners]                                 # boundcheck list learners; or FILE.py:Class
Guesser = "uniform"                        # one spec for all tunings

[learners.GapLog]                          # or one for each; graph = "full" gives a learner its own
ones = "gappletron:loss=logistic-K,rule=printed,optimiser=unprojected,gamma=ones"
theory = "gappletron:loss=logistic-K,rule=printed,optimiser=unprojected,gamma=theorem-4a"

[learners.GapSmH]
ones = "gappletron:loss=smooth-hinge,rule=printed,optimiser=unprojected,gamma=ones"
theory = "gappletron:loss=smooth-hinge,rule=printed,optimiser=unprojected,gamma=theorem-4a"

[[findings]]                               # statements that the report checks, with intervals
says = "GapLog makes fewer mistakes than guessing"
left = "GapLog"
right = "Guesser"
relation = "at most"                       # or "above", "level", "rises" or "falls" with along = "noise"
tuning = "ones"
where = { noise = 0.0 }
"""
