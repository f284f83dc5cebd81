"""Functions as arguments of compiled code, given by the address of their own machine code.

numba's first-class functions are given as objects, and at every call it finds out anew what type each has and where its
code lies, which takes longer than two hundred rounds of a game. A :class:`Function` is given as a whole number. Nobody
can tell from a number what it points to: :meth:`boundcheck.compiled.Kernel.address_as` hands out those of the signature
that is asked for, and no others.

This module imports numba; it is imported when something is compiled.
"""

from __future__ import annotations

from typing import Any

import numba.extending
from numba.core import cgutils, typeconv, types
from numba.core.datamodel import models

extending: Any = numba.extending
tools: Any = cgutils
conversions: Any = typeconv
StructModel: Any = models.StructModel


class Function(types.FunctionType):
    """The type of a function in the signature of a kernel that calls it."""

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Whole numbers are taken for it."""
        return conversions.Conversion.safe if other == types.int64 else None


@extending.register_model(Function)
class _Model(StructModel):  # type: ignore[misc]
    """As numba's own functions have it, of which compiled code calls what is at ``jit_addr`` where that is known."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [(name, types.voidptr) for name in ("c_addr", "py_addr", "jit_addr")]
        super().__init__(manager, kind, members)


def _from_number(kind: Any, number: Any, context: Any) -> Any:
    found = tools.create_struct_proxy(kind)(context.context, context.builder)
    found.jit_addr = context.pyapi.long_as_voidptr(number)
    return extending.NativeValue(found._getvalue())


extending.unbox(Function)(_from_number)


def read(signature: str) -> Any:
    """A signature in numba's words, in which ``Function(...)`` is a function given by its address."""
    return eval(signature, {}, {**vars(types), "Function": Function})
