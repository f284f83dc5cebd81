"""Files that are written whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def put(files: Mapping[Path, bytes]) -> None:
    """Put files in their places, in this order, once all of them are on the disk beside.

    What is no file, such as /dev/stdout, is written to.

    Raises
    ------
    OSError
        if that fails; while one of them cannot be written none is put in its place
    """
    staged: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            place = path.resolve()
            if place.exists() and not place.is_file():
                path.write_bytes(content)
                continue
            beside = place.with_name(f".{place.name}.{os.getpid()}.new")
            staged[beside] = place
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for beside, place in staged.items():
            beside.replace(place)
    except BaseException:
        for beside in staged:
            beside.unlink(missing_ok=True)
        raise
    for folder in {place.parent for place in staged.values()}:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
