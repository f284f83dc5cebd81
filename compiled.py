"""The only compile decorator of the package.

``@kernel(signature)`` gives a function two forms: ``python``, the function itself, and ``native``, the
same source compiled by numba the first time it is asked for. ``@helper`` marks a plain function that
kernels may call; it stays plain Python and is compiled into each kernel that calls it.

numba's cache looks only at the file of the function it compiles: an edited helper, constant or
decorator option elsewhere goes unnoticed and yesterday's machine code runs. The cache directory is
therefore named after a hash of every source file that a kernel of the package can reach; what others write is
compiled anew by each process. numba itself is imported
only when something is compiled.

Kernels use ``+ - * /`` and ``math.sqrt``, ``exp``, ``log``, ``log1p`` only, in a fixed order, so that the
two forms agree bit for bit.
"""

from __future__ import annotations

import atexit
import hashlib
import inspect
import logging
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from . import vectors

logger = logging.getLogger(__name__)

INT, FLOAT = "int64", "float64"
VECTOR, MATRIX, CUBE = "float64[::1]", "float64[:, ::1]", "float64[:, :, ::1]"
INT_VECTOR, INT_MATRIX = "int64[::1]", "int64[:, ::1]"
READ_ONLY_VECTOR, READ_ONLY_MATRIX = (f"Array(float64, {n}, 'C', True)" for n in (1, 2))
"""Types of arguments, as numba writes them."""

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

_ROOT = Path(__file__).parent
_SOURCES = ("algorithms", "adversaries", "verify")
_KEPT_DAYS = 30
_pending_helpers: list[Callable[..., Any]] = []


def helper(function: AnyFunction) -> AnyFunction:
    """Let compiled kernels call ``function``, which itself stays a plain Python function."""
    _pending_helpers.append(function)
    return function


def workspace(size: int) -> NDArray[np.float64]:
    """Uninitialised numbers of shape (size,) for one kernel, to be called at its head and nowhere else.

    In compiled code they lie on the stack of the kernel: LLVM knows then that they overlap no argument, and
    their references need not be counted.
    """
    return np.empty(size)


class Signature:
    """A signature whose arguments have names: ``Signature("float64", x="float64[::1]", k="int64")`` is numba's
    ``"float64(float64[::1], int64)"``. A kernel needs to name only the arguments that it uses.
    """

    def __init__(self, result: str, **arguments: str) -> None:
        self.names = tuple(arguments)
        self._text = f"{result}({', '.join(arguments.values())})"

    def __str__(self) -> str:
        return self._text

    def completed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with all arguments, for plain Python; numba is told of them by ``function.__signature__``.

        numba keeps an argument under its name there, which is where the code of the function looks for it: the
        machine code is that of a function with the whole list.
        """
        code = function.__code__
        used = code.co_varnames[: code.co_argcount]
        unknown = {*used} - {*self.names}
        by_place = used == self.names or (unknown and len(used) == len(self.names))
        if by_place or code.co_flags & inspect.CO_VARARGS:
            return function
        if unknown:
            raise TypeError(
                f"kernel {function.__qualname__} takes {', '.join(used)}: expected some of {', '.join(self.names)}."
            )
        places = [self.names.index(name) for name in used]
        # no variable of the function may have the name of an argument that it does not take
        names = [name if name in used else f"_{i}" for i, name in enumerate(self.names)]
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        )
        return wraps(function)(lambda *given: function(*[given[place] for place in places]))


class Kernel:
    """A function in two forms: ``python`` as written, ``native`` compiled on first use.

    Parameters
    ----------
    function : the plain function; arrays in, arrays filled in place, numbers out
    signature : numba's signature as a string, e.g. ``"float64(float64[::1], int64)"``, or a :class:`Signature`
    """

    def __init__(self, function: Callable[..., Any], signature: str | Signature) -> None:
        self.function, self.signature = function, signature
        self.python = function if isinstance(signature, str) else signature.completed(function)
        self.__doc__ = function.__doc__

    @cached_property
    def native(self) -> Any:
        """The compiled form, taken from the cache where it is there."""
        return _compile(self.function, str(self.signature))

    @cached_property
    def _address(self) -> int:
        result = self.native.get_compile_result(self.native.nopython_signatures[0])
        address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        return address

    def address_as(self, signature: str | Signature) -> int:
        """The address of the compiled form, for a kernel that takes a function with this signature."""
        if str(self.signature) != str(signature):
            raise TypeError(f"{self} is a {self.signature}: expected a {signature}.")
        return self._address

    def __call__(self, *arguments: Any) -> Any:
        return self.python(*arguments)

    def __repr__(self) -> str:
        return f"Kernel({self.python.__module__}.{self.python.__qualname__})"


def kernel(signature: str | Signature) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorate a function with its compiled form; see :class:`Kernel`."""
    return lambda function: Kernel(function, signature)


@cache
def source_fingerprint() -> str:
    """SHA-256 over every source file that can change what a kernel computes."""
    digest = hashlib.sha256()
    here = Path(__file__)
    files = [here, here.with_name("functions.py"), here.with_name("vectors.py")]
    files += [f for s in _SOURCES for f in (_ROOT / s).rglob("*.py")]
    for file in sorted(files):
        digest.update(file.relative_to(_ROOT).as_posix().encode() + b"\0")
        digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()


def _is_fingerprinted(function: Callable[..., Any]) -> bool:
    """True if the sources that a function can reach are in the fingerprint: not if it is a user's."""
    file = Path(function.__code__.co_filename).resolve()
    return any(file.is_relative_to(_ROOT.resolve() / folder) for folder in _SOURCES)


@cache
def cache_directory() -> Path:
    """The directory for machine code of this version of the sources, made if it is not there.

    numba loads what lies in it, so nobody else may write there: where the user's cache is not writable it is one in the
    folder for temporary files that belongs to the user alone, or else a fresh one.
    """
    import numba

    name = f"{numba.__version__}-{source_fingerprint()[:24]}"
    root = user_cache_path("boundcheck") / "kernels"
    try:
        directory = root / name
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
        directory.touch()
        _prune(root, keep=name)
    except OSError:
        directory = _private_directory(f"boundcheck-kernels-{name}")
        logger.info("%s is not writable; machine code is kept in %s", root, directory)
    return directory


def _private_directory(name: str) -> Path:
    """A folder for temporary files that only this user can write to: that of this name, or a fresh one where somebody
    else has it, which is removed in the end."""
    directory = Path(tempfile.gettempdir()) / name
    with suppress(OSError):
        directory.mkdir(mode=0o700)
    with suppress(OSError):
        found = directory.lstat()
        # elsewhere the folder for temporary files is the user's own
        closed = os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
        if stat.S_ISDIR(found.st_mode) and closed:
            return directory
    fresh = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return fresh


def _prune(root: Path, keep: str) -> None:
    """Remove machine code of versions that nobody has used for a while."""
    oldest = time.time() - _KEPT_DAYS * 86_400
    for directory in root.iterdir():
        if directory.name != keep and directory.stat().st_mtime < oldest:
            shutil.rmtree(directory, ignore_errors=True)


@cache
def _teach_workspace() -> None:
    """Tell numba what :func:`workspace` is in compiled code."""
    import numba.extending
    from numba import types

    extending: Any = numba.extending

    def type_of_call(context: Any) -> Any:
        return lambda size: types.Array(types.float64, 1, "C")

    def allocate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (size,) = arguments
        data = builder.alloca(context.get_value_type(types.float64), size)
        data.align = 64
        width = context.get_constant(types.intp, 8)
        array = context.make_array(signature.return_type)(context, builder)
        context.populate_array(
            array, data=data, shape=[size], strides=[width], itemsize=width, meminfo=None
        )
        return array._getvalue()

    extending.type_callable(workspace)(type_of_call)
    extending.lower_builtin(workspace, types.int64)(allocate)


def _compile(function: Callable[..., Any], signature: str) -> Any:
    import numba
    from numba.extending import register_jitable

    from . import functions

    _teach_workspace()
    vectors.teach()
    while _pending_helpers:
        register_jitable(_pending_helpers.pop())
    config: Any = numba.config
    usual = config.CACHE_DIR
    config.CACHE_DIR = str(cache_directory())
    try:
        compile_ = numba.njit(
            functions.read(signature),
            cache=_is_fingerprinted(function),
            nogil=True,
            error_model="numpy",
        )
        native = compile_(function)
    finally:
        config.CACHE_DIR = usual
    return native
