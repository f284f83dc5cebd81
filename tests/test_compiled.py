"""The compile decorator: no stale machine code, nothing compiled before it is needed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from boundcheck import compiled

ROOT = Path(__file__).parent.parent

HELPERS = """
from ..compiled import helper

CONSTANT = {constant}

@helper
def twice(x):
    return {factor} * x
"""

KERNELS = """
from ..compiled import FLOAT, Signature, kernel
from . import helpers
from .helpers import CONSTANT, twice

@kernel("float64(float64)")
def f(x):
    return twice(x) + CONSTANT

@kernel(Signature("float64", unused=FLOAT, x=FLOAT))
def named(x):
    return twice(x) + CONSTANT
"""

ASK = """
from tiny.algorithms.kernels import f
print(f.native(1.5), f.python(1.5), len(f.native.stats.cache_hits), sum(f.native.stats.cache_hits.values()))
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A package of three files with the real decorator."""
    package = tmp_path / "tiny"
    for folder in ("algorithms", "adversaries", "verify"):
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").touch()
    (package / "__init__.py").touch()
    for name in ("arrays.py", "compiled.py", "functions.py", "vectors.py"):
        shutil.copy(ROOT / name, package)
    (package / "algorithms" / "kernels.py").write_text(KERNELS)
    return tmp_path


def write_helpers(folder: Path, factor: float, constant: float) -> None:
    text = HELPERS.format(factor=factor, constant=constant)
    (folder / "tiny" / "algorithms" / "helpers.py").write_text(text)


def ask(folder: Path, code: str = ASK) -> list[float]:
    """Run in a process of its own, with a cache of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={
            "PATH": "",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "HOME": str(folder),
            # Python's own cache takes a file of the same size and second for the same file
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_edits_of_helpers_and_constants_are_never_stale(tiny: Path) -> None:
    write_helpers(tiny, 2.0, 1.0)
    assert ask(tiny)[:2] == [4.0, 4.0]
    again = ask(tiny)
    assert again[:2] == [4.0, 4.0]
    assert again[3] == 1, "the second process takes the machine code from the cache"
    write_helpers(tiny, 100.0, 1.0)
    assert ask(tiny)[:2] == [151.0, 151.0]
    write_helpers(tiny, 100.0, 7.0)
    assert ask(tiny)[:2] == [157.0, 157.0]
    write_helpers(tiny, 2.0, 1.0)
    assert ask(tiny)[3] == 1, "back to the first version, back to its machine code"


def test_a_kernel_that_names_some_of_its_arguments_is_cached_too(tiny: Path) -> None:
    code = ASK.replace("import f", "import named as f").replace("(1.5)", "(9.0, 1.5)")
    for factor, hits in ((2.0, 0), (2.0, 1), (100.0, 0)):
        write_helpers(tiny, factor, 1.0)
        assert ask(tiny, code) == [1.5 * factor + 1.0] * 2 + [hits, hits]


def test_without_the_hashed_folder_the_edit_would_go_unnoticed(tiny: Path) -> None:
    """The trap is real: numba alone looks only at the file of the kernel."""
    source = (tiny / "tiny" / "compiled.py").read_text()
    (tiny / "tiny" / "compiled.py").write_text(
        source.replace("source_fingerprint()[:24]", "'same'")
    )
    write_helpers(tiny, 2.0, 1.0)
    assert ask(tiny)[:2] == [4.0, 4.0]
    write_helpers(tiny, 100.0, 1.0)
    assert ask(tiny)[:2] == [4.0, 151.0]


OUTSIDE = """
from tiny.compiled import kernel
from aid import twice

@kernel("float64(float64)")
def f(x):
    return twice(x)
"""


def test_edits_of_helpers_outside_the_package_are_never_stale(tiny: Path) -> None:
    """The fingerprint does not know a user's files, so their machine code is not kept."""
    code = ASK.replace("tiny.algorithms.kernels", "mine")
    (tiny / "mine.py").write_text(OUTSIDE)
    for factor in (2.0, 100.0):
        aid = HELPERS.format(factor=factor, constant=0.0).replace("..compiled", "tiny.compiled")
        (tiny / "aid.py").write_text(aid)
        assert ask(tiny, code)[:2] == [1.5 * factor] * 2


def test_another_option_of_the_compiler_is_another_version(tiny: Path) -> None:
    write_helpers(tiny, 2.0, 1.0)
    ask(tiny)
    decorator = tiny / "tiny" / "compiled.py"
    source = decorator.read_text()
    assert "nogil=True" in source
    decorator.write_text(source.replace("nogil=True", "nogil=True, fastmath=True"))
    assert ask(tiny)[3] == 0, "machine code made without the option is not taken"
    decorator.write_text(source)
    assert ask(tiny)[3] == 1


def test_the_cache_moves_where_the_usual_place_is_not_writable(tiny: Path) -> None:
    write_helpers(tiny, 2.0, 1.0)
    (tiny / "cache").write_text("a file where a folder should be")
    assert ask(tiny)[:2] == [4.0, 4.0]


def test_every_source_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("algorithms", "adversaries", "verify"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    monkeypatch.setattr(compiled, "_ROOT", tmp_path)
    for name in ("functions.py", "vectors.py"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(compiled, "__file__", str(shutil.copy(ROOT / "compiled.py", tmp_path)))

    def fingerprint() -> str:
        compiled.source_fingerprint.cache_clear()
        return compiled.source_fingerprint()

    seen, changes = {fingerprint()}, 0
    files = sorted(tmp_path.rglob("*.py"))
    assert len(files) > 40
    for file in files:
        source = file.read_bytes()
        end = len(source) - 1
        flipped = {end // 2} if changes else {0, end // 2, end}  # all variants of the first file
        variants = {source + b"\n"} if changes else {source + b"#", source + b"\n", source[:-1]}
        for i in flipped & set(range(len(source))):
            variants.add(source[:i] + bytes([source[i] ^ 1]) + source[i + 1 :])
        variants -= {source}
        for variant in variants:
            file.write_bytes(variant)
            seen.add(fingerprint())
        changes += len(variants)
        file.write_bytes(source)
    assert len(seen) == changes + 1
    files[0].rename(files[0].with_name("renamed.py"))
    assert fingerprint() not in seen
    compiled.source_fingerprint.cache_clear()


ADD = compiled.Signature("float64", x=compiled.FLOAT, k=compiled.VECTOR, y=compiled.FLOAT)


def test_a_signature_is_the_text_that_numba_reads() -> None:
    assert str(ADD) == f"{ADD}" == "float64(float64, float64[::1], float64)"
    assert ADD.names == ("x", "k", "y")


def kernels_of_some_arguments(factor: float) -> list[compiled.Kernel]:
    @compiled.kernel(ADD)
    def plain(x, k, y):
        return factor * x - y

    @compiled.kernel(ADD)
    def by_name(y, x):
        return factor * x - y

    @compiled.kernel(ADD)
    def by_place(a, b, c):
        return factor * a - c

    @compiled.kernel(ADD)
    def with_a_variable_called_like_an_argument(x, y):
        for k in range(3):
            last = factor * x - y - k
        return last + k

    @compiled.kernel(ADD)
    def of_none():
        return factor * 2.0 - 5.0

    return [plain, by_name, by_place, with_a_variable_called_like_an_argument, of_none]


@pytest.mark.parametrize("which", range(5))
def test_a_kernel_names_the_arguments_that_it_uses(which: int) -> None:
    kernel = kernels_of_some_arguments(3.0)[which]
    given = 2.0, np.zeros(1), 5.0
    assert kernel(*given) == kernel.python(*given) == kernel.native(*given) == 1.0
    with pytest.raises(TypeError):
        kernel.native(2.0, 5.0)


def test_a_kernel_calls_another_by_its_address() -> None:
    @compiled.kernel("float64(Function(float64(float64)), float64)")
    def twice(f, x):
        return f(f(x))

    @compiled.kernel("float64(float64)")
    def half(x):
        return x / 2.0

    @compiled.kernel("int64(int64)")
    def other(k):
        return k + 1

    function = "float64(float64)"
    assert twice.native(half.address_as(function), 6.0) == twice.python(half.python, 6.0) == 1.5
    with pytest.raises(
        TypeError, match=r"other.* is a int64\(int64\): expected a float64\(float64\)"
    ):
        other.address_as(function)


def test_the_machine_code_is_that_of_the_whole_list() -> None:
    def instructions(kernel: compiled.Kernel) -> list[str]:
        code = kernel.native.inspect_asm(kernel.native.signatures[0])
        return re.findall(r"^\t([a-z]\w*)", code, re.MULTILINE)

    plain, by_name = map(instructions, kernels_of_some_arguments(3.0)[:2])
    assert len(plain) > 20
    assert plain == by_name


def test_an_argument_that_the_signature_lacks_is_named() -> None:
    with pytest.raises(TypeError, match=r"kernel .*wrong takes x, z: expected some of x, k, y\."):

        @compiled.kernel(ADD)
        def wrong(x, z):
            return x + z


def test_nothing_is_compiled_before_it_is_played() -> None:
    code = (
        "import sys, boundcheck.verify.games.labels.play, boundcheck.verify.catalog as c\n"
        "c.claims(), c.learners(), c.adversaries()\nprint(int('numba' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "0", done.stderr


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of the user's that cannot be made, and the folder for temporary files."""
    occupied = tmp_path / "occupied"
    occupied.touch()
    monkeypatch.setattr(compiled, "user_cache_path", lambda name: occupied)
    monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(compiled.tempfile, "tempdir", str(tmp_path))
    compiled.cache_directory.cache_clear()
    yield tmp_path
    compiled.cache_directory.cache_clear()


def test_without_a_cache_machine_code_is_kept_where_nobody_else_can_write(no_cache: Path) -> None:
    directory = compiled.cache_directory()
    assert directory.parent == no_cache
    assert directory.stat().st_mode & 0o777 == 0o700
    compiled.cache_directory.cache_clear()
    assert compiled.cache_directory() == directory


@pytest.mark.parametrize("planted", ["open", "link", "file"])
def test_a_folder_that_somebody_planted_is_not_used(no_cache: Path, planted: str) -> None:
    theirs = compiled.cache_directory()
    compiled.cache_directory.cache_clear()
    theirs.rmdir()
    elsewhere = no_cache / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    if planted == "open":
        theirs.mkdir()
        theirs.chmod(0o777)
    elif planted == "link":
        theirs.symlink_to(elsewhere)
    else:
        theirs.touch()
    directory = compiled.cache_directory()
    assert directory.name.startswith(f"{theirs.name}-")
    assert directory.stat().st_mode & 0o777 == 0o700


def test_the_folder_of_another_user_is_not_used(
    no_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = compiled.cache_directory()
    compiled.cache_directory.cache_clear()
    monkeypatch.setattr(compiled.os, "getuid", lambda: theirs.stat().st_uid + 1)
    assert compiled.cache_directory() != theirs
