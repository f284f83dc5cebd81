"""Online multiclass boosting: four boosters, the weak learners they combine, and what they compute with.

A booster combines the labels that its weak learners predict, and feeds each of them a cost vector with a weight. In
the bandit setting it sees only whether the label it played was right, and feeds unbiased estimates.
"""
