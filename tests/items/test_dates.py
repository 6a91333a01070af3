"""Dates that are text are refused in whatever format; ranges and codes are levels."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

from riskslim import ItemEncoder, read
from riskslim.items.dates import dates_among

DAYS = [datetime.datetime(2023, 11, 3, 7, 45, 10) + datetime.timedelta(days=37.3 * k)
        for k in range(12)]  # fmt: skip
FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d %m %Y", "%m/%d/%y", "%d/%m/%y",
    "%d.%m.%y", "%y-%m-%d", "%d-%b-%Y", "%d%b%Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y", "%d %B %Y",
    "%dth of %B %Y", "%A %d %B %Y", "%a, %d %b %Y %H:%M:%S GMT", "%Y-%m", "%m/%Y", "%b %Y", "%b-%y",
    "%B %Y", "%Y%m%d", "%Y%m%dT%H%M%SZ", "%Y-W%W", "%m/%d/%y %H:%M", "%d%b%Y:%H:%M:%S", "%H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f+00:00", "%I:%M %p", "%H:%M", "%a %Y-%m-%d", "%A %m/%d/%y", "%a. %d.%m.%y",
    "%Y-%m-%d (%a)", "%a, %d/%m/%Y", "%a %Y%m%d %H:%M", "%a %H:%M",
)  # fmt: skip


@pytest.mark.parametrize("format_", FORMATS)
def test_formats_of_dates(format_):
    texts = {day.strftime(format_) for day in DAYS}
    assert dates_among(texts) == texts
    assert dates_among([*texts][:2]) == {*[*texts][:2]}
    assert dates_among({*texts, "unknown"}) == (texts if len(texts) >= 10 else frozenset())
    with pytest.raises(TypeError, match=r"dates or times .*: 'day' \(12 of 12 rows"):
        ItemEncoder().fit(pd.DataFrame({"day": [day.strftime(format_) for day in DAYS]}))


@pytest.mark.parametrize("texts", [
    ["4. März 2024", "13. Dezember 2023"], ["4 août 2024", "1 décembre 2023"],
    ["4 ene 2024", "13 dic 2023"], ["Mo 04.03.24", "Di 13.12.23"],
    ["sáb. 04/03/2024", "dom. 1/2/2023"], ["7:30", "10:15"],
    ["2024Q4", "2025Q1"], ["Q4 2024", "Q1 2025"],
])  # fmt: skip
def test_other_languages_and_quarters(texts):
    assert dates_among(texts) == {*texts}


@pytest.mark.parametrize("texts", [
    ["18-24", "25-34", "35-44", "65+"], ["A12", "B03"], ["2009-10", "2010-11", "2011-12"],
    ["1990-1995", "1996-2000"], ["SEPT9", "MARCH1", "DEC1"], ["MAR10", "DEC12"],
    ["120/80", "140/90"], ["1.2.3", "1.10.2"], ["10-20-30", "40-50-60"], ["10-12-24", "40-50-60"],
    ["1:20", "1:40"], ["1:20", "1:40", "1:80"], ["10:30", "25:75"], ["90:10", "95:05"],
    ["3:1", "2:1"], ["Mon 1", "Tue 2"], ["Sat 95", "Sat 90"], ["Sun 5", "Mar 3"],
    ["3+", "2+"], ["Mon", "Tue"], ["January", "February"], ["March 1", "May 2"],
    ["Marker 12", "Marker 15"], ["Decile 10", "Decile 20"], ["2024-12-04", "later"],
    ["Outpatient 12"], ["2024-12", "2024-17"],
])  # fmt: skip
def test_levels_that_are_no_dates(texts):
    assert not dates_among(texts)
    assert ItemEncoder().fit(pd.DataFrame({"level": [*texts, "other"]})).groups_["level"]


def test_dates_in_files_of_any_size(tmp_path):
    table = pd.DataFrame({"age": range(12), "day": [f"{day:%m/%d/%y}" for day in DAYS]})
    table = table.assign(died=[0, 1] * 6)
    for number in range(2):
        table.to_csv(tmp_path / f"{number}.csv", index=False)
    with pytest.raises(TypeError, match=r"dates or times .*: 'day' \(24 of 24 rows"):
        read(tmp_path, "died", items=ItemEncoder())
    assert read(tmp_path, "died", items=ItemEncoder(categorical=["day"])).n_samples == 24
