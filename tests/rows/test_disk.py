"""Rows in files: what is damaged, missing or full is said, and nothing is left behind."""

from __future__ import annotations

import errno
import gc
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from partitions import on_disk, random_data, rows_of
from riskslim.rows import block_files as blocks
from riskslim.rows.base import RowsSchema
from riskslim.rows.block_files import BlockFileError
from riskslim.rows.disk import BlockWriter, DiskRows, ScratchFolder

POINT = np.zeros((1, 7))


@pytest.fixture
def rows(tmp_path):
    return on_disk(rows_of(random_data(0), merged=False), 50, tmp_path)


def left(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


def damage(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(bytes(content))


# ---- what is read ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["zero_one", "integers", "reals", "mixed"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("merged", [False, True])
def test_rows_come_back_as_they_were(kind, weighted, merged):
    given = rows_of(random_data(1, kind=kind, weighted=weighted), merged=merged)
    for block_rows in (5, 16, 299, 10**6):
        with on_disk(given, block_rows) as held:
            found = held.sample(10**6, 0)
            for name in ("integer_columns", "real_row_tiles", "labels", "numbers"):
                np.testing.assert_array_equal(getattr(found, name), getattr(given, name))
            np.testing.assert_array_equal(found.weights, given.weights)
            assert held.n_rows == given.n_rows
            least, most = held.feature_min, held.feature_max
            for k, j in enumerate(given.integer_index):
                assert least[j] == given.integer_columns[:, k].min()
                assert most[j] == given.integer_columns[:, k].max()


def test_columns_of_two_values_beside_zero_and_one():
    columns = np.array([[-5, 7, 127, -128], [-4, 7, 126, -127], [-5, 7, 127, -128]], np.int8)
    with BlockWriter(ScratchFolder(), RowsSchema((0, 1, 2, 3), ())) as writer:
        writer.append(columns, None, [1, -1, 1])
        rows = writer.finish()
    with rows:
        np.testing.assert_array_equal(rows.sample(3, 0).integer_columns, columns)


@pytest.mark.parametrize("number", [0, 3, 5])
def test_a_byte_that_changed_is_found(rows, number):
    path = rows.paths[number]
    header = blocks.read_header(path)
    for position in (3, 10, 18, 22, 40, header.begin + 1, header.size - 1):
        original = path.read_bytes()
        damage(path, position)
        with pytest.raises(BlockFileError, match=path.name):
            DiskRows(rows.folder).values(POINT, 1.0)
        path.write_bytes(original)
    assert DiskRows(rows.folder).values(POINT, 1.0).shape == (1,)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_file_that_was_cut_off(rows, share):
    path = rows.paths[2]
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    for ask in (lambda: DiskRows(rows.folder), lambda: rows.values(POINT, 1.0)):
        with pytest.raises(BlockFileError, match=path.name):
            ask()


def test_a_longer_file(rows):
    path = rows.paths[1]
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(BlockFileError, match="cut off: it has"):
        DiskRows(rows.folder)


def test_files_that_are_missing(rows, tmp_path):
    rows.paths[2].unlink()
    with pytest.raises(BlockFileError, match=r"000002\.rows is missing: rows were stored there"):
        rows.values(POINT, 1.0)
    with pytest.raises(BlockFileError, match=r"000002\.rows is missing: there are others"):
        DiskRows(rows.folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BlockFileError, match="no files of rows"):
        DiskRows(tmp_path / "empty")


def test_a_file_of_other_columns(rows, tmp_path):
    other = on_disk(rows_of(random_data(0, kind="zero_one"), merged=False), 50, tmp_path)
    rows.paths[1].write_bytes(other.paths[1].read_bytes())
    with pytest.raises(BlockFileError, match=r"000001\.rows has other columns than 000000\.rows"):
        DiskRows(rows.folder)


@pytest.mark.slow
def test_bytes_are_compared_at_every_read(tmp_path):
    rows = on_disk(rows_of(random_data(0, n=40_000, kind="mixed"), merged=False), 10_000, tmp_path)
    again = DiskRows(rows.folder)
    expected = again.values(POINT, 1.0)
    path = again.paths[1]
    original = path.read_bytes()
    header = blocks.read_header(path)
    middle = header.begin + 8192
    page = slice(middle, middle + 4096)
    other = slice(middle + 3 * 4096, middle + 4 * 4096)
    damaged = {position: bytearray(original) for position in range(len(original) - 1, 0, -997)}
    for position, content in damaged.items():
        content[position] ^= 1 << position % 8
    overwritten, swapped, lost, zeros = (bytearray(original) for _ in range(4))
    overwritten[middle : middle + 20_000] = np.random.default_rng(0).bytes(20_000)
    swapped[page], swapped[other] = original[other], original[page]
    lost[page] = original[other]
    zeros[page] = bytes(4096)
    for content in (*damaged.values(), overwritten, swapped, lost, zeros):
        path.write_bytes(content)
        with pytest.raises(BlockFileError, match=path.name):
            again.used_by(n_threads=2).values(POINT, 1.0)
    path.write_bytes(original)
    np.testing.assert_array_equal(again.values(POINT, 1.0), expected)
    # Copies in other processes know what was read.
    path.write_bytes(overwritten)
    with pytest.raises(BlockFileError, match=path.name):
        pickle.loads(pickle.dumps(again)).values(POINT, 1.0)


# ---- what is left ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_scratch_folder_goes_with_its_rows(tmp_path):
    given = rows_of(random_data(0), merged=False)
    with on_disk(given, 50, tmp_path) as rows:
        assert len(left(tmp_path)) == 7
        copied = pickle.loads(pickle.dumps(rows))
        assert copied.values(POINT, 1.0) == rows.values(POINT, 1.0)
        del copied
        gc.collect()
        assert len(left(tmp_path)) == 7  # a copy is not the owner
    assert not left(tmp_path)
    rows = on_disk(given, 50, tmp_path)
    used = rows.used_by(n_threads=2)
    del rows
    gc.collect()
    assert used.values(POINT, 1.0).shape == (1,)  # as long as anybody reads it
    del used
    gc.collect()
    assert not left(tmp_path)


def test_another_folder_stays(rows, tmp_path):
    with DiskRows(rows.folder) as again:
        again.values(POINT, 1.0)
    assert len(rows.paths) == 6
    assert rows.paths[0].exists()


def test_a_scratch_folder_goes_with_the_process(tmp_path):
    code = (
        "import sys; from riskslim.rows.disk import ScratchFolder; "
        "folder = ScratchFolder(sys.argv[1]); (folder.path / 'a').write_text('b'); "
        "{}"
    )
    for end in ("pass", "sys.exit(3)", "raise KeyboardInterrupt"):
        subprocess.run(
            [sys.executable, "-c", code.format(end), str(tmp_path)],
            check=False, capture_output=True,
        )  # fmt: skip
        assert not left(tmp_path)


def _use(rows: DiskRows) -> float:
    return float(rows.values(POINT, 1.0)[0])


@pytest.mark.skipif(sys.platform == "win32", reason="there are no forks")
def test_a_fork_leaves_the_folder(rows):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_use, (rows,)) == _use(rows)
    assert rows.paths[0].exists()


class FullDisk:
    """Files whose writes fail after some number of them."""

    def __init__(self, monkeypatch, fail_at: int) -> None:
        self.n = 0
        self.fail_at = fail_at
        opened = Path.open

        def guarded(path, mode="r", *arguments, **options):
            file = opened(path, mode, *arguments, **options)
            if mode == "xb":
                writes = file.write
                file = _Guarded(file, lambda data: self.check(lambda: writes(data)))
            return file

        monkeypatch.setattr(Path, "open", guarded)

    def check(self, write):
        self.n += 1
        if self.n == self.fail_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write()


class _Guarded:
    def __init__(self, file, write) -> None:
        self.file = file
        self.write = write

    def __enter__(self):
        return self

    def __exit__(self, *arguments) -> None:
        self.file.close()


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    given = rows_of(random_data(0), merged=False)
    with monkeypatch.context() as context:
        counting = FullDisk(context, 0)
        on_disk(given, 100, tmp_path).close()
    assert counting.n > 20
    for fail_at in range(1, counting.n + 1):
        with monkeypatch.context() as context:
            FullDisk(context, fail_at)
            with pytest.raises(OSError, match="No space left on device"):
                on_disk(given, 100, tmp_path)
        assert not left(tmp_path), fail_at


def test_a_full_disk_leaves_nothing_in_a_given_folder(tmp_path, monkeypatch):
    given = rows_of(random_data(0, kind="zero_one"), merged=False)
    (tmp_path / "notes.txt").write_text("mine")
    FullDisk(monkeypatch, 12)
    writer = BlockWriter(tmp_path, RowsSchema(tuple(range(6)), ()), block_rows=100)
    with pytest.raises(OSError, match="No space left"):
        writer.append(given.integer_columns, None, given.labels)
    assert [path.name for path in left(tmp_path)] == ["notes.txt"]


def interrupted(folder: ScratchFolder, given) -> None:
    with BlockWriter(folder, RowsSchema(tuple(range(6)), ()), block_rows=9) as writer:
        writer.append(given.integer_columns, None, given.labels)
        assert left(folder.path)
        raise KeyboardInterrupt


def test_an_error_on_the_way_leaves_nothing(tmp_path):
    given = rows_of(random_data(0, kind="zero_one"), merged=False)
    folder = ScratchFolder(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        interrupted(folder, given)
    assert not left(tmp_path)


# ---- what is refused ---------------------------------------------------------------------------


def test_rows_that_do_not_fit(tmp_path):
    schema = RowsSchema((0, 2), (1,), "weights")
    writer = BlockWriter(tmp_path, schema)
    two, one = np.zeros((3, 2), np.int8), np.zeros((3, 1))
    good = (two, one, [1, -1, 1], [1.0, 2.0, 0.0])

    def refused(message, **changes):
        names = ("integer_columns", "real_columns", "labels", "weights")
        with pytest.raises(ValueError, match=message):
            writer.append(**{**dict(zip(names, good, strict=True)), **changes})

    refused("expected int8 columns of shape", integer_columns=two[:, :1])
    refused("expected int8 columns", integer_columns=two.astype(float))
    refused("expected int8 columns", real_columns=None)
    refused("must be finite", real_columns=one + np.nan)
    refused(r"labels must be -1 or \+1", labels=[1, 0, 1])
    refused("weights must be 3 finite", weights=[1.0, -1.0, 1.0])
    refused("weights must be 3 finite", weights=[1.0, 1.0])
    refused("do not go together", weights=None)
    with pytest.raises(ValueError, match="there are no rows"):
        writer.finish()
    writer.append(*good)
    assert writer.n_rows == 3
    assert writer.finish().n_counted == 2
    with pytest.raises(ValueError, match="has files of rows already"):
        BlockWriter(tmp_path, schema)
    numbers = BlockWriter(ScratchFolder(), RowsSchema((0, 2), (1,), "numbers"))
    with pytest.raises(ValueError, match="whole numbers of at least 1"):
        numbers.append(two, one, [1, -1, 1], [1.0, 1.5, 1.0])
    with pytest.raises(ValueError, match="block_rows"):
        BlockWriter(ScratchFolder(), schema, block_rows=0)
    with pytest.raises(ValueError, match="each feature"):
        BlockWriter(ScratchFolder(), RowsSchema((1,), ()))
