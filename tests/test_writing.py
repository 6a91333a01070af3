"""The writer of files: whatever fails, a file is complete or untouched, and nothing is left."""

from __future__ import annotations

import csv
import errno
import io
import os
import random
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from paths import PACKAGE
from riskslim import _writing
from riskslim._writing import check_writable, csv_text, same_file, write_file

pytestmark = pytest.mark.faults

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and owners are those of POSIX")
ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.EBUSY, errno.EXDEV, errno.EINVAL, errno.EMFILE, errno.ENAMETOOLONG,
)  # fmt: skip
# Calls of the system that a writer makes, as the module names them.
CALLS = ("open", "fdopen", "write", "flush", "fsync", "fchown", "fchmod", "replace")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("content", ["", "a\nb\r\n", "\u2265 1", b"\x00\xff" * 5000])
def test_a_file_has_the_content(tmp_path, content):
    octets = content.encode() if isinstance(content, str) else content
    for before in (None, b"", b"longer than the new content" * 900):
        if before is not None:
            (tmp_path / "x").write_bytes(before)
        write_file(tmp_path / "x", content)
        assert (tmp_path / "x").read_bytes() == octets
        assert names(tmp_path) == {"x"}


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o755])
def test_the_mode_is_kept(tmp_path, mode):
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(mode)
    write_file(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


@POSIX
def test_a_new_file_is_as_usual(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "x", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


@POSIX
@pytest.mark.skipif(os.name == "posix" and os.getuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    path.chmod(0o604)
    write_file(path, "new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 54321, 0o604)
    assert path.read_text() == "new"


@POSIX
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "x")
    for text in ("one", "two"):  # to a file that is not there yet, and to one that is
        write_file(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there" / "x").read_text() == text
    assert names(tmp_path / "there") == {"x"}


@POSIX
def test_devices_and_pipes_are_written_to(tmp_path):
    write_file("/dev/null", "text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    os.mkfifo(tmp_path / "pipe")
    seen = []
    reader = threading.Thread(target=lambda: seen.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_file(tmp_path / "pipe", "through it")
    reader.join()
    assert seen == ["through it"]
    with pytest.raises(OSError, match="No space left") as error:
        write_file("/dev/full", "text")
    assert error.value.filename == "/dev/full"


def failure_of(path: Path, content: bytes) -> OSError | None:
    try:
        write_file(path, content)
    except OSError as failure:
        return failure
    return None


class Failing:
    """A call that fails at its n-th time; `write` and `flush` are those of the open file."""

    def __init__(self, patch: pytest.MonkeyPatch, call: str, error: int, at: int = 1) -> None:
        self.error, self.left, self.count = error, at, 0
        if call == "replace":
            patch.setattr(Path, "replace", self.instead_of(Path.replace))
        elif call in ("write", "flush"):
            opened = os.fdopen

            def fdopen(*arguments):
                file = opened(*arguments)
                return Opened(file, self, call)

            patch.setattr(_writing.os, "fdopen", fdopen)
        else:
            patch.setattr(_writing.os, call, self.instead_of(getattr(os, call)))

    def instead_of(self, call):
        def failing(*arguments, **keywords):
            self.tick()
            return call(*arguments, **keywords)

        return failing

    def tick(self) -> None:
        self.left -= 1
        if not self.left:
            self.count += 1
            raise OSError(self.error, os.strerror(self.error))


class Opened:
    def __init__(self, file, fault, call):
        self.file, self.fault, self.call = file, fault, call

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, octets):
        if self.call == "write":
            if self.fault.left == 1:  # some of it arrives
                self.file.write(octets[: len(octets) // 2])
            self.fault.tick()
        return self.file.write(octets)

    def flush(self):
        if self.call == "flush":
            self.fault.tick()
        self.file.flush()


@POSIX
@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("old", [None, b"old" * 2000, b"o"], ids=["new", "long", "short"])
def test_complete_or_untouched_whatever_fails(tmp_path, monkeypatch, call, error, old):
    path, new = tmp_path / "score.json", b"new content" * 1000
    if old is not None:
        path.write_bytes(old)
        path.chmod(0o640)
        if os.getuid() == 0:
            os.chown(path, 1, 1)
    with monkeypatch.context() as patch:
        fault = Failing(patch, call, error)
        failure = failure_of(path, new)
    # Without one it was written into the file itself, or the call was not needed.
    expected = old if failure else new
    assert failure is None or (failure.errno, failure.filename) == (error, str(path))
    assert (path.read_bytes() if path.exists() else None) == expected
    assert names(tmp_path) <= {"score.json"}
    if old is not None:
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    if call in ("replace", "write", "flush", "open", "fsync", "fdopen"):
        assert fault.count == 1
        assert expected != new or (old is not None and error in _writing._NO_REPLACEMENT)


@POSIX
@pytest.mark.parametrize("at", range(1, 6))
def test_what_was_in_the_file_comes_back_where_it_has_to_be_written_itself(
    tmp_path, monkeypatch, at
):
    path, old, new = tmp_path / "x", b"old" * 7000, b"new!" * 4000
    path.write_bytes(old)
    writes = []
    write = os.write

    def slowly(descriptor, octets):
        writes.append(len(octets))
        if len(writes) == at:
            raise OSError(errno.EIO, "Input/output error")
        return write(descriptor, octets[:4000])

    with monkeypatch.context() as patch:
        Failing(patch, "replace", errno.EBUSY)
        patch.setattr(_writing.os, "write", slowly)
        if at < 5:
            with pytest.raises(OSError, match="Input/output error"):
                write_file(path, new)
            assert path.read_bytes() == old
        else:  # four writes are enough
            write_file(path, new)
            assert path.read_bytes() == new
    assert names(tmp_path) == {"x"}


def test_ctrl_c_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    (tmp_path / "x").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(_writing.os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_file(tmp_path / "x", "new")
    assert names(tmp_path) == {"x"}
    assert (tmp_path / "x").read_text() == "old"


def test_temporary_names_never_collide(tmp_path, monkeypatch):
    # Others hold the names that are drawn first: the same numbers are drawn in another container.
    drawn = iter(["a", "a", "b", "c"])
    monkeypatch.setattr(_writing.secrets, "token_hex", lambda _: next(drawn))
    for name in (".a.tmp", ".b.tmp"):
        (tmp_path / name).write_text("of another process")
    write_file(tmp_path / "x", "new")
    assert names(tmp_path) == {".a.tmp", ".b.tmp", "x"}
    assert {(tmp_path / name).read_text() for name in (".a.tmp", ".b.tmp")} == {
        "of another process"
    }
    monkeypatch.setattr(_writing.secrets, "token_hex", lambda _: "a")
    with pytest.raises(FileExistsError, match="no name is free"):
        write_file(tmp_path / "x", "newer")
    assert (tmp_path / "x").read_text() == "new"


def test_many_threads_write_one_file(tmp_path):
    path = tmp_path / "x"
    contents = [bytes([65 + k]) * 20_000 for k in range(8)]
    write_file(path, contents[0])
    failures = []

    def work(content):
        for _ in range(20):
            try:
                write_file(path, content)
                if path.read_bytes() not in contents:
                    failures.append("a mixture")
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert names(tmp_path) == {"x"}


@POSIX
def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    check_writable(path)
    write_file(path, "new")
    assert path.read_text() == "new"
    with pytest.raises(ValueError, match="cannot be written: File name too long"):
        check_writable(tmp_path / ("x" * (len(path.name) + 1)))


def test_what_cannot_be_written_is_found_before_the_work(tmp_path):
    (tmp_path / "file").write_text("old")
    for path, message in (
        (tmp_path / "no" / "x", "there is no folder"),
        (tmp_path / "file" / "x", "there is no folder"),
        (tmp_path, "is a folder, not a file"),
        (tmp_path / "a\0b", "cannot be the name of a file"),
    ):
        with pytest.raises(ValueError, match=message):
            check_writable(path)
    check_writable(tmp_path / "new")
    check_writable(tmp_path / "file")
    check_writable(os.devnull)
    assert names(tmp_path) == {"file"}
    assert (tmp_path / "file").read_text() == "old"


def test_a_file_that_cannot_be_removed_again_is_no_reason(tmp_path, monkeypatch):
    """As where a scanner has the empty file open that was made to find out."""

    def refused(path, *arguments, **keywords):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    check_writable(tmp_path / "new")


# Root may write everywhere: what others may not is tried as another user.
AS_ANOTHER_USER = """
import os, sys
from pathlib import Path
from riskslim._writing import check_writable, write_file
if os.getuid() == 0:
    os.setgid(54321); os.setuid(12345)
for path in map(Path, sys.argv[1:]):
    try:
        check_writable(path)
        checked = "fine"
    except ValueError as error:
        checked = str(error).replace(str(path), path.name)
    try:
        write_file(path, "new")
        written = "written"
    except OSError as error:
        written = f"{error.strerror} {error.filename == str(path)}"
    print(path.name, checked, written, sep=" | ")
"""


@POSIX
def test_folders_and_files_that_are_read_only(tmp_path):
    import tempfile

    # Folders above that of pytest are closed to other users.
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        home.chmod(0o755)
        folder = home / "closed"
        folder.mkdir()
        for file, mode in (("own", 0o666), ("other", 0o444)):
            (folder / file).write_text("old")
            (folder / file).chmod(mode)
        folder.chmod(0o555)
        try:
            run = subprocess.run(
                [sys.executable, "-c", AS_ANOTHER_USER,
                 *(str(folder / name) for name in ("own", "other", "none"))],
                capture_output=True, text=True, check=True,
                env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
            )  # fmt: skip
            assert run.stdout.splitlines() == [
                "own | fine | written",
                "other | other cannot be written: the file is read-only | the file is read-only "
                "True",
                "none | none cannot be written: its folder holds no new file (Permission denied) "
                "| Permission denied True",
            ]
            assert (folder / "own").read_text() == "new"
            assert stat.S_IMODE((folder / "own").stat().st_mode) == 0o666
            assert (folder / "own").stat().st_uid == os.getuid()
            assert (folder / "other").read_text() == "old"
            assert names(folder) == {"own", "other"}
        finally:
            folder.chmod(0o755)


def test_one_file_by_several_paths(tmp_path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("a")
    os.link(tmp_path / "a", tmp_path / "hard")
    (tmp_path / "soft").symlink_to("a")
    (tmp_path / "to nothing").symlink_to("c")
    for one, other, same in (
        ("a", "a", True), ("a", "./a", True), ("a", "hard", True), ("a", "soft", True),
        ("a", "b", False), ("c", "to nothing", True), ("c", "./c", True), ("c", "d", False),
        ("a", "c", False),
    ):  # fmt: skip
        assert same_file(tmp_path / one, f"{tmp_path}/{other}") is same, (one, other)
    assert not same_file(os.devnull, os.devnull)


def test_random_faults_in_a_row(tmp_path):
    """Whatever fails at random moments, again and again: the file is one of those written."""
    seed = 20_261
    rng = random.Random(seed)
    path = tmp_path / "x"
    current = b"first"
    write_file(path, current)
    for k in range(200):
        new = rng.randbytes(rng.randrange(1, 30_000))
        call = rng.choice((*CALLS[:5], "replace"))
        with pytest.MonkeyPatch.context() as patch:
            Failing(patch, call, rng.choice(ERRORS), at=rng.randrange(1, 4))
            failure = failure_of(path, new)
        assert failure is None or failure.filename == str(path), (seed, k, call)
        current = current if failure else new
        assert path.read_bytes() == current, (seed, k, call)
        assert names(tmp_path) == {"x"}, (seed, k, call)


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_csv_with_line_ends_in_its_cells_is_read_back(newline):
    rows = [["name", "value"], [f"a{newline}b", 0.1], ['c"d,e', 2]]
    text = csv_text(rows)
    found = [*csv.reader(io.StringIO(text, newline=""))]
    assert found == [[str(cell) for cell in row] for row in rows]
    assert text.startswith("name,value\n")
