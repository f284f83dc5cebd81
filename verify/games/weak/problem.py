"""The old place of these names, for modules that are not yet moved; to be removed with the last of them."""

from ....algorithms.boosting.problem import WeakDeclaration as WeakDeclaration
from ....algorithms.boosting.problem import WeakProblem as WeakProblem
