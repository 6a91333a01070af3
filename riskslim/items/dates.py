"""Dates as text: whether the levels of a column are days, months or times.

Each level alone could be a code or a range; all of them together tell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["dates_among"]

# Texts that are no dates, such as "unknown", are rare among dates: so many for each of them.
_DATES_PER_OTHER = 10

_YEAR = r"(?:18|19|20)\d{2}"
_TIME_OF_DAY = re.compile(r"[ T:,]+\d{1,2}:\d{2}.*")
# Whatever else the column has: days with a year of four digits, compact ones, weeks and quarters,
# times with seconds or with a half of the day.
_CLEAR = re.compile(
    rf"\d{{4}}([-/. ])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/. ])\d{{1,2}}\2\d{{4}}"
    rf"|{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T?\d{{4,6}}Z?)?"
    rf"|{_YEAR}[- /]?(?:[Qq][1-4]|[Ww]\d{{1,2}}(?:-\d)?)|[Qq][1-4][- /]?{_YEAR}"
    r"|\d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?: ?[AaPp][Mm])?|\d{1,2}:\d{2} ?[AaPp][Mm]"
)
_SHORT = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{1,2})")  # with a year of two digits
_MONTH = re.compile(rf"({_YEAR})[-/](\d{{1,2}})|(\d{{1,2}})[-/]({_YEAR})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_WORD = re.compile(r"\d+|[^\W\d_]+")
# A word before or after a day, which may be that of the week.
_BEFORE = re.compile(r"([^\W\d_]+)\.?,?\s+(?=\d)")
_AFTER = re.compile(r"(?<=\d),?\s+\(?([^\W\d_]+)\.?\)?$")

# English months, of three letters or all of them; and what months of days are in German, French,
# Spanish, Italian, Portuguese and Dutch as well, without accents.
_ENGLISH = re.compile(
    r"jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?"
    r"|oct(ober)?|nov(ember)?|dec(ember)?"
)
_MONTHS = (
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mrz", "mai",
    "okt", "dez", "fev", "avr", "jui", "aou", "ene", "abr", "ago", "dic", "gen", "mag", "giu",
    "lug", "set", "ott", "out", "mrt", "mei", "maart",
)  # fmt: skip
# Days of the week in the same languages: what they begin with, and those of two letters.
_WEEKDAYS = (
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "die", "mit", "don", "fre", "sam", "son",
    "lun", "mar", "mer", "jeu", "ven", "dim", "mie", "jue", "vie", "sab", "dom", "gio", "seg",
    "ter", "qua", "qui", "sex", "maa", "din", "woe", "vri", "zat", "zon",
)  # fmt: skip
_SHORT_WEEKDAYS = {"mo", "di", "mi", "do", "fr", "sa", "so", "ma", "wo", "vr", "za", "zo"}
# Words beside a month: days of the week, "de", "th", a time zone.
_MOST_WORDS = 3


def dates_among(levels: Iterable[str]) -> frozenset[str]:
    """Find the dates in a column of text.

    Parameters
    ----------
    levels : iterable of str
        The distinct values of the column.

    Returns
    -------
    frozenset of str
        None unless nearly all of the levels are dates or times. What could be something else, such
        as 10-12-24, 2009-10 or 10:30, counts where all levels of its kind are days in one order of
        day, month and year, or months, and not all of them years that follow each other, or times
        of the day, and not all of them after 1, as dilutions are.

    Examples
    --------
    >>> from riskslim.items.dates import dates_among
    >>> sorted(dates_among(["12/04/24", "12/31/24"]))
    ['12/04/24', '12/31/24']
    >>> sorted(dates_among(["18-24", "25-34"]))
    []
    """
    every = list(levels)
    bare = {text: _without_weekday(text.strip()) for text in every}
    days = {text: _TIME_OF_DAY.sub("", rest) for text, rest in bare.items()}
    found = {
        text for text, day in days.items()
        if _CLEAR.fullmatch(day) or _CLEAR.fullmatch(bare[text])
        or _has_month(_TIME_OF_DAY.sub("", text.strip()))
    }  # fmt: skip
    short = {text: one for text, day in days.items() if (one := _SHORT.fullmatch(day))}
    if _are_days([(one[1], one[3], one[4]) for one in short.values()]):
        found |= short.keys()
    months = {text: one for text, day in days.items() if (one := _MONTH.fullmatch(day))}
    if _are_months([(one[1] or one[4], one[2] or one[3]) for one in months.values()]):
        found |= months.keys()
    times = {text: one for text, rest in bare.items() if (one := _CLOCK.fullmatch(rest))}
    if _are_times([(one[1], one[2]) for one in times.values()]):
        found |= times.keys()
    others = len(every) - len(found)
    return frozenset(found if len(found) >= max(1, _DATES_PER_OTHER * others) else ())


def _are_days(triples: list[tuple[str, str, str]]) -> bool:
    """True if one order of day, month and year, this of two digits, fits all numbers."""
    orders = ((0, 1, 2), (1, 0, 2), (2, 1, 0))
    return any(
        all(
            0 < int(one[day]) <= 31 and 0 < int(one[month]) <= 12 and len(one[year]) == 2
            for one in triples
        )
        for day, month, year in orders
    )


def _are_months(pairs: list[tuple[str, str]]) -> bool:
    """True if all pairs are a year and a month; not all of them a year and the next one."""
    if not all(0 < int(month) <= 12 for _, month in pairs):
        return False
    return any((int(year) + 1) % 100 != int(month) for year, month in pairs)


def _are_times(pairs: list[tuple[str, str]]) -> bool:
    """True if all pairs are hours and minutes; not all of them 1 to something."""
    if not all(int(hour) < 24 and int(minute) < 60 for hour, minute in pairs):
        return False
    return any(hour != "1" for hour, _ in pairs)


def _without_weekday(text: str) -> str:
    """A text without the day of the week before or after it, where it has one."""
    for pattern in (_BEFORE, _AFTER):
        found = pattern.match(text) if pattern is _BEFORE else pattern.search(text)
        if found:
            word = _plain(found[1])
            if word.startswith(_WEEKDAYS) or word in _SHORT_WEEKDAYS:
                return text[: found.start()] + text[found.end() :]
    return text


def _plain(text: str) -> str:
    """A text in small letters without accents."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in letters if not unicodedata.combining(c))


def _has_month(text: str) -> bool:
    """True if a text is a day or a month of a year, with the name of the month."""
    parts = _WORD.findall(_plain(text))
    lengths = sorted(len(part) for part in parts if part.isdigit())
    words = [part for part in parts if not part.isdigit()]
    if len(words) > _MOST_WORDS:
        return False
    if any(map(_ENGLISH.fullmatch, words)):
        # A year alone, of two digits, is set apart: MAR10 is a gene.
        is_month = lengths == [4] or (lengths == [2] and not text.isalnum())
        return is_month or lengths in ([1, 2], [2, 2], [1, 4], [2, 4])
    return lengths in ([1, 4], [2, 4]) and any(word.startswith(_MONTHS) for word in words)
