"""Damage on a disk is found: in Parquet files that are read, and in scratch files later."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riskslim import CoefficientSet, ItemEncoder, RiskScoreProblem, Status, branch_and_bound, read
from riskslim.data.batches import ParquetFiles
from riskslim.data.files import open_file, read_table
from riskslim.exceptions import CertificateError
from riskslim.rows.block_files import BlockFileError, read_block, write_block
from riskslim.rows.disk import DiskRows
from riskslim.rows.functions import summarised

LITTLE = 10_000


def table(n: int = 4000) -> pd.DataFrame:
    random = np.random.default_rng(0)
    age, bmi = random.integers(20, 90, n), random.normal(27, 4, n).round(2)
    died = random.random(n) < 1 / (1 + np.exp(5 - age / 15))
    return pd.DataFrame(
        {"age": age, "bmi": bmi, "site": random.choice([*"AB"], n), "died": died * 1}
    )


@pytest.mark.parametrize("compression", ["none", "snappy"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_are_compared_with_their_checksums(tmp_path, version, compression):
    path = tmp_path / "rows.parquet"
    pq.write_table(
        pa.Table.from_pandas(table()), path, write_page_checksum=True, data_page_version=version,
        compression=compression,
    )  # fmt: skip
    expected, original = read_table(path), path.read_bytes()
    random = np.random.default_rng(1)
    for _ in range(25):
        content = bytearray(original)
        content[random.integers(4, len(content) - 3000)] ^= 1 << random.integers(8)
        path.write_bytes(content)
        for reading in (_read_whole, _read_columns, _read_batches):
            # Headers of pages have no checksum: the same rows are what is left.
            with contextlib.suppress(ValueError):
                assert reading(path) == expected.to_pydict()
    path.write_bytes(original[:-5000] + bytes([original[-5000] ^ 1]) + original[-4999:])
    with pytest.raises(ValueError, match="CRC checksum verification failed"):
        read_table(path)


def _read_whole(path):
    return read_table(path).to_pydict()


def _read_columns(path):
    with open_file(path) as (names, column):
        return {name: column(j).to_pylist() for j, name in enumerate(names)}


def _read_batches(path):
    files = ParquetFiles([path])
    parts = [pa.Table.from_batches([batch.rows]) for batch in files.batches(files.names)]
    return pa.concat_tables(parts).to_pydict()


# ---- rows in scratch files -----------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    """Rows of two files that have no room in memory."""
    folder = tmp_path / "rows"
    folder.mkdir()
    rows = table()
    for k in range(2):
        rows[k::2].to_parquet(folder / f"{k}.parquet")
    found = read(folder, "died", items=ItemEncoder(n_thresholds=9), memory_limit=LITTLE)
    assert isinstance(found.rows, DiskRows)
    return found


def solved(data):
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return branch_and_bound(RiskScoreProblem(data, coefficients, max_size=2), time_limit=60)


def mislabelled(data):
    """Exchange labels in a block that is otherwise as it has to be."""
    path = data.rows.paths[0]
    part, _ = read_block(path)
    labels = part.labels.copy()
    alike = np.flatnonzero(part.numbers == part.numbers[0])
    negative, positive = (alike[labels[alike] == sign] for sign in (-1, 1))
    n = min(len(negative), len(positive))
    assert n
    labels[negative[:n]], labels[positive[:n]] = 1, -1
    part = dataclasses.replace(part, labels=labels)
    path.unlink()
    write_block(path, part, data.rows.schema, summarised(part))


def test_a_block_that_is_overwritten_later_ends_the_search(data):
    assert solved(data).certificate.status is Status.OPTIMAL
    path = data.rows.paths[0]
    content = bytearray(path.read_bytes())
    content[-400:-200] = bytes(200)
    path.write_bytes(content)
    with pytest.raises(BlockFileError, match=path.name):
        solved(data)


def test_what_is_proven_is_compared_with_the_files(data, caplog):
    expected = solved(data).certificate
    assert expected.status is Status.OPTIMAL
    data.rows._digests = [None] * len(data.rows.paths)
    mislabelled(data)
    with pytest.raises(CertificateError, match="the scratch files are damaged"):
        solved(data)


@pytest.mark.parametrize("what", ["changed", "missing"])
def test_files_that_are_others_by_now_cost_no_score(data, what, caplog):
    path = data.files.reading.files.paths[1]
    if what == "missing":
        path.unlink()
    else:
        os.utime(path, ns=(0, 0))
    with caplog.at_level(logging.WARNING, logger="riskslim"):
        assert solved(data).certificate.status is Status.OPTIMAL
    assert "not compared with the files" in caplog.text


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_on_files_is_the_one_on_rows(data, tmp_path, weighted):
    if weighted:
        rows = table().assign(w=np.arange(4000) % 4)
        rows.to_parquet(tmp_path / "w.parquet")
        rows.to_parquet(tmp_path / "v.parquet")
        data = read([tmp_path / "w.parquet", tmp_path / "v.parquet"], "died", "w",
                    items=ItemEncoder(n_thresholds=4), memory_limit=LITTLE)  # fmt: skip
    for one in (
        data,
        data.with_class_weight({0: 1.0, 1: 2.5}),
        data.files.of(np.arange(5, 3000)).read(),
    ):
        solution = solved(one)
        files = one.files.weighted(one.class_factors)
        found = files.mean_loss(solution.coef.astype(float), 1.0)
        assert found == pytest.approx(solution.certificate.loss, rel=1e-12)
