"""Worker processes on this machine, which end with the iteration over what they find."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterable
from typing import Any, Literal

import joblib
from joblib.externals.loky import get_reusable_executor

from .interruption import shielded
from .workers import die_with


def each(
    function: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    processes: int,
    *,
    in_order: bool = True,
    batch_size: int | Literal["auto"] = "auto",
) -> Generator[Any, None, None]:
    """What a function returns for each tuple of arguments, played in so many processes with one thread each.

    Raises
    ------
    BrokenExecutor
        if a process is killed
    """
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        workers = joblib.Parallel(
            n_jobs=processes,
            return_as="generator" if in_order else "generator_unordered",
            pre_dispatch="2*n_jobs",
            batch_size=batch_size,
            initializer=die_with,
            initargs=(os.getpid(),),
        )
    with shielded():
        found: Any = workers(joblib.delayed(function)(*each) for each in arguments)
    try:
        for one in found:  # noqa: UP028 - it is closed below, with care
            yield one
    finally:
        with warnings.catch_warnings():  # that cases in hand are given up is meant
            warnings.simplefilter("ignore", UserWarning)
            found.close()
        if (
            processes > 1
        ):  # a later run may start in another folder, where a file name means another file
            get_reusable_executor().shutdown(wait=True, kill_workers=True)
