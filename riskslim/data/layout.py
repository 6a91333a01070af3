"""Rows as words of 64 bits: where in them each column lies.

Equal rows are found by comparing words (:mod:`riskslim._kernels.distinct`). The label is the first
byte; small integers follow, in as many bits as their values need, none of them across two words;
each real column is a word of its own behind them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

__all__ = ["WordLayout"]

_WORD = 64
_BYTE = 8


@dataclasses.dataclass(frozen=True, eq=False)
class WordLayout:
    """Places of the columns of a row in its words.

    Attributes
    ----------
    places : int64 array of shape (d_int,)
        First bit of each integer column, counted from that of the label.
    bits : int64 array of shape (d_int,)
        1 for columns of 0 and 1, else 8.
    n_packed : int
        Words of the label and the integers.
    n_reals : int
    """

    places: NDArray[np.int64]
    bits: NDArray[np.int64]
    n_packed: int
    n_reals: int

    @classmethod
    def of(cls, is_binary: NDArray[np.bool_], n_reals: int) -> WordLayout:
        """Lay out columns.

        Parameters
        ----------
        is_binary : bool array of shape (d_int,)
            Integer columns that have no values but 0 and 1.
        n_reals : int

        Returns
        -------
        WordLayout

        Examples
        --------
        >>> import numpy as np
        >>> from riskslim.data.layout import WordLayout
        >>> layout = WordLayout.of(np.array([True, False, True]), 1)
        >>> layout.places, layout.n_words
        (array([16,  8, 17]), 2)
        """
        places = np.empty(len(is_binary), np.int64)
        # Bytes first, then bits: neither crosses a word.
        n_bytes = 1 + int(np.count_nonzero(~is_binary))
        places[~is_binary] = _BYTE * np.arange(1, n_bytes)
        places[is_binary] = _BYTE * n_bytes + np.arange(np.count_nonzero(is_binary))
        n_bits = _BYTE * n_bytes + int(np.count_nonzero(is_binary))
        return cls(places, np.where(is_binary, 1, _BYTE), -(-n_bits // _WORD), n_reals)

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return self.n_packed + self.n_reals

    def labels(self, keys: NDArray[np.uint64]) -> NDArray[np.int8]:
        """Return the labels of rows.

        Parameters
        ----------
        keys : uint64 array of shape (m, n_words)

        Returns
        -------
        int8 array of shape (m,)
        """
        return keys[:, 0].astype(np.uint8).view(np.int8)

    def integers(self, keys: NDArray[np.uint64]) -> NDArray[np.int8]:
        """Return the integer columns of rows.

        Parameters
        ----------
        keys : uint64 array of shape (m, n_words)

        Returns
        -------
        int8 array of shape (m, d_int), Fortran order
        """
        columns = np.empty((len(keys), len(self.places)), np.uint8, order="F")
        # A word at a time, so that the rows of many words are not read anew for each column.
        for word in range(self.n_packed):
            own = np.ascontiguousarray(keys[:, word])
            for j in np.flatnonzero(self.places // _WORD == word).tolist():
                shifted = (own >> np.uint64(self.places[j] % _WORD)).astype(np.uint8)
                columns[:, j] = shifted & np.uint8(1) if self.bits[j] == 1 else shifted
        return columns.view(np.int8)

    def reals(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the real columns of rows.

        Parameters
        ----------
        keys : uint64 array of shape (m, n_words)

        Returns
        -------
        float64 array of shape (m, d_real), Fortran order
        """
        return np.asfortranarray(keys[:, self.n_packed :].view(np.float64))
