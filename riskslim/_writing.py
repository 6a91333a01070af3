"""The one writer of files: complete or untouched, whoever looks and whatever fails."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["check_writable", "csv_text", "same_file", "write_file"]

# A folder that holds no new file, and a file that nothing can be put in place of, as one that
# a container has mounted: the file that is there may still be written to.
_NO_REPLACEMENT = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}

# What spreadsheets take for the beginning of a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")

# Names of temporary files are drawn anew where one is taken: more draws than this mean that
# something else is wrong.
_DRAWS = 100


def csv_text(rows: Iterable[Iterable[Any]], *, formulas: bool = True) -> str:
    """Lines of CSV, each of which ends with a line feed.

    Numbers are the shortest text that reads back as the same number. The module ``csv`` leaves a
    carriage return without quotes, which readers take for the end of a line: such rows have them.

    Parameters
    ----------
    rows : iterable of iterables
        The head first.
    formulas : bool, default True
        False: text that spreadsheets would compute, since it begins with =, +, -, @, a tab or a
        line break and is no number, gets an apostrophe before it.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim._writing import csv_text
    >>> csv_text([["=1+1", "a", "-3"]], formulas=False).rstrip()
    "'=1+1,a,-3"
    """
    text = io.StringIO()
    plain = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [*row] if formulas else [_inert(cell) for cell in row]
        has_return = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if has_return else plain).writerow(cells)
    return text.getvalue()


def _inert(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(_FORMULAS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file as a whole: it has all of the new content, or is as it was.

    The content goes to a new file beside it, which takes its place when all of it is on the disk;
    mode and owner are those of the file that is replaced, a link stays a link. Where no file can
    be put in its place (a folder that is read-only, an owner that cannot be kept) the file itself
    is written, and gets its old content back if that fails. Devices and pipes are written to.

    Parameters
    ----------
    path : str or path-like
    content : str or bytes
        Text is written in UTF-8.

    Raises
    ------
    OSError
        The file cannot be written; ``filename`` is its path.
    """
    path = Path(path)
    octets = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    try:
        found = _stat(path)
        if found is not None and not stat.S_ISREG(found.st_mode):
            with path.open("wb") as stream:  # a folder is refused here
                stream.write(octets)
            return
        target = Path(os.path.realpath(path))
        if found is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "the file is read-only")
        try:
            _replace(target, octets, found)
        except OSError as error:
            if found is None or error.errno not in _NO_REPLACEMENT:
                raise
            _overwrite(target, octets)
    except OSError as error:
        # Of a full disk the system names no file, and of a temporary one it names that.
        if error.filename is None or error.filename != str(path):
            named = OSError(error.errno, error.strerror or str(error), str(path))
            raise named from error
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out that a file could not be written, without changing anything.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    ValueError
        There is no such folder, or it is read-only; the name is too long, that of a folder, or
        that of a file that is read-only.
    """
    path = Path(path)
    try:
        found = _stat(path)
    except ValueError as error:  # a zero byte
        raise ValueError(f"{str(path)!r} cannot be the name of a file: {error}") from None
    except NotADirectoryError:
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise ValueError(f"{path} is a folder, not a file to write to")
    if found is not None and not os.access(path, os.W_OK):
        raise ValueError(f"{path} cannot be written: the file is read-only")
    if found is not None and not stat.S_ISREG(found.st_mode):
        return
    try:
        temporary, descriptor = _temporary(Path(os.path.realpath(path)).parent)
    except OSError as error:
        if found is None:
            raise ValueError(
                f"{path} cannot be written: its folder holds no new file ({error.strerror})"
            ) from None
        return
    os.close(descriptor)
    with contextlib.suppress(OSError):  # a scanner may hold it, or the folder keeps all files
        temporary.unlink()


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """True if two paths lead to one file that is, or would be, a regular one.

    Parameters
    ----------
    one, other : str or path-like

    Returns
    -------
    bool
        False for devices and pipes, which several can write to.
    """
    try:
        there, that = Path(one).stat(), Path(other).stat()
    except (OSError, ValueError):
        paths = (os.path.normcase(os.path.realpath(path)) for path in (one, other))
        return len({*paths}) == 1
    return stat.S_ISREG(there.st_mode) and os.path.samestat(there, that)


def _stat(path: Path) -> os.stat_result | None:
    """Look at a file; None where there is none, or a link that leads to none."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _temporary(folder: Path, mode: int = 0o666) -> tuple[Path, int]:
    """Open a new file in a folder; its name is drawn, and is no longer than most."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for _ in range(_DRAWS):
        path = folder / f".{secrets.token_hex(8)}.tmp"
        try:
            return path, os.open(path, flags, mode)
        except FileExistsError:
            continue
    raise FileExistsError(errno.EEXIST, "no name is free for a temporary file", str(folder))


def _replace(target: Path, octets: bytes, found: os.stat_result | None) -> None:
    """Write a new file and put it in place of the target."""
    # Others must not read what they could not read in the file that is replaced.
    temporary, descriptor = _temporary(target.parent, 0o666 if found is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if found is not None:
                _take_over(descriptor, found)
            file.write(octets)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _keep_name(target.parent)


def _take_over(descriptor: int, found: os.stat_result) -> None:
    """Give a file the owner and the mode of another one; PermissionError where it cannot."""
    if not hasattr(os, "fchown"):
        return
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
        os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))


def _keep_name(folder: Path) -> None:
    """Have the folder's new entry on the disk, too, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _overwrite(target: Path, octets: bytes) -> None:
    """Write into the file itself; what was in it comes back if that fails."""
    with target.open("r+b", buffering=0) as file:
        before = file.read()
        try:
            _write_all(file.fileno(), octets)
        except BaseException:
            # The blocks of the old content are the file's already: no full disk is in the way.
            _write_all(file.fileno(), before)
            raise


def _write_all(descriptor: int, octets: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    view = memoryview(octets)
    while view:
        view = view[os.write(descriptor, view) :]
    os.ftruncate(descriptor, len(octets))
    os.fsync(descriptor)
