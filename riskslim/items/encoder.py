"""ItemEncoder: from raw records to the 0/1 items that risk scores are made of."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from riskslim._wording import listing
from riskslim.data.extrapolation import warn_of_far_values
from riskslim.data.faults import ColumnError, raise_faults
from riskslim.data.labels import encode_labels
from riskslim.data.summaries import TableSummary
from riskslim.data.tables import (
    Table,
    check_blanks,
    check_present,
    has_names,
    open_records,
    open_table,
    record_of,
    values_of,
)
from riskslim.items.batches import fit_summarised, write_items
from riskslim.items.codes import (
    code_rates_of,
    note_on_codes,
    note_on_special,
    outcome_of,
    suspected_in,
)
from riskslim.items.columns import (
    Column,
    ColumnEncoder,
    ItemRules,
    ReadColumn,
    fit_column,
    is_part,
    read_as_numbers,
)
from riskslim.items.containers import Container, WeightedRows
from riskslim.items.item import Item, variable_of
from riskslim.items.parameters import checked_rules, is_supervised
from riskslim.items.variables import RawVariable

if TYPE_CHECKING:
    import pyarrow

__all__ = ["ItemEncoder", "check_rows", "item_table", "parts_of_a_table"]

logger = logging.getLogger(__name__)

# Up to so many levels a column of text is taken as it is, however few rows there are; with more,
# unless each has this many rows on average.
MANY_LEVELS, ROWS_PER_LEVEL = 20, 10

_FIT_ADVICE = {
    "missing": (
        "Remove these rows or impute the values; or set missing='indicator' (--missing indicator "
        "on the command line) for an item 'is missing', which there is for all columns but those "
        "of numeric=..."
    ),
    "date": (
        "Convert them to numbers, for example days since a reference date, or leave them out; text "
        "that is to be taken as levels all the same is named in categorical=... (--categorical)"
    ),
}
_TRANSFORM_ADVICE = {
    "missing": (
        "There were none in fit, so that no item says where: fit on rows with missing values in "
        "these columns and missing='indicator', or remove these rows, or impute the values."
    )
}
# Of the rows of fit, once those that count have been read.
_WEIGHTLESS_ADVICE = {
    "missing": (
        "Rows of weight 0 do not count, but have to be such as the score can be applied to: remove "
        "these rows or impute the values."
    ),
    "unknown": (
        "Rows of weight 0 do not count, so that no item knows levels that they alone have: remove "
        "these rows, or set handle_unknown='ignore', which makes all items of theirs 0."
    ),
}


class ItemEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn raw columns into the 0/1 items of a risk score.

    ========================================  ======================================================
    a column of                               becomes
    ========================================  ======================================================
    numbers                                   one item "age >= v" per threshold v
    text, or a categorical type               one item "sex = female" per level
    a categorical type whose levels have      one item "stage >= III" per level but the first; as
    an order (pandas ordered, polars Enum)    of numbers, at most ``n_thresholds``
    True and False, or 0 and 1                one item, "smoker"
    with missing values                       in addition, "age is missing", if ``missing`` says so
    numbers, where ``numeric`` says so        itself
    ========================================  ======================================================

    Parameters
    ----------
    n_thresholds : int or "all", default 9
        Largest number n of thresholds per column; "all": every one that tells rows of fit apart,
        up to ``max_thresholds`` of them. A column with at most n + 1 distinct values gets
        all of them but the one that every row meets. Otherwise thresholds are values of the
        column at its quantiles k / (n + 1), k = 1..n. Where the smallest value alone makes up
        1 / (n + 1) of the rows or more, they are the second smallest value and the quantiles k / n
        of the rows above the smallest one. For "<=" read largest for smallest.
    thresholds : mapping from names to sequences of float, int, "all" or "supervised", optional
        Thresholds of columns, or another ``n_thresholds`` for them. "supervised", for all columns
        where it stands alone: the outcome chooses at most as many, by a shallow tree of this
        column, so that ``fit`` needs y. In a pipeline these are the training rows of each fold.
    max_thresholds : int, default 1000
        Most thresholds of a column where all are asked for. Columns with more are named in
        ``limited_`` and by a warning of the logger; they get as many at their quantiles.
    threshold_position : {"value", "middle"}, default "value"
        Where a threshold lies between the two values of the column that it separates: at one of
        them, the upper one for ">=" and the lower one for "<=", or in the middle between them
        (at a whole number where all values of the column are). The items of the rows of fit are the
        same.
    round_thresholds : bool, default False
        Put each threshold at the roundest number that separates the same two values: the one with
        the fewest significant digits, "age >= 50" in place of "age >= 49.37". The items of the
        rows of fit are the same. Thresholds that are given are left as they are.
    threshold_digits : int, optional
        Round thresholds to so many significant digits. Rows of fit may then be split otherwise, and
        of thresholds that become the same one is left. Thresholds that are given are not rounded.
    direction : {">=", "<="} or mapping from names to them, default ">="
        Whether the items of numbers are "age >= v" or "age <= v".
    categorical : sequence of str, default ()
        Columns of numbers that are levels, for example codes; of columns whose levels have an
        order, those that are to have an item per level all the same.
    numeric : sequence of str, or "passthrough", default ()
        Columns of numbers that stay as they are. "passthrough": all columns of numbers for which
        ``thresholds`` has no entry. They must not have missing values.
    missing : {"error", "indicator"}, default "error"
        What to do with missing values (NaN, None, null, NA). "error": refuse them. "indicator":
        columns with missing values in fit get an item "age is missing", and all their other
        items are 0 in these rows. Values are neither imputed nor rows left out, ever.
    handle_unknown : {"error", "ignore"}, default "error"
        Levels that did not occur in fit: refuse them, or make all items of the column 0.
    min_frequency : int or float, optional
        Levels that occur in fewer rows, or in a smaller share of all rows if it is a float, share
        one item, "country in {A, B}". Between supervised thresholds, below the first and from the
        last one on there are at least as many rows; 5% of them where it is None.
    min_events : int, default 0
        There are at least so many rows of each class between them, too.
    special_values : mapping from names to sequences of float, or one sequence, optional
        Values of columns of numbers that are no measurements, such as -9 for "unknown"; one
        sequence is for all columns of numbers. Each has an item of its own, "months = -9", and
        those of a sequence within the sequence share one, "months in {-7, -8}". They meet no
        threshold, and choose none. Where columns are named, they are special in later rows even if
        none occurs in fit. A column of 0 and 1 with special values has the threshold 1.
    drop : {"if_binary", None}, default "if_binary"
        "if_binary": of two levels of a column without missing values the first one has no item,
        since its item would be the complement of the other one. The order is that of text or
        numbers. None: it has.
    feature_names : sequence of str, optional
        Names of columns where X has none. Default: x0, x1, ...

    Attributes
    ----------
    items_ : list of Item
        Name, variable, kind and value of each column of the output, and of a threshold the interval
        of all that split the rows of fit alike.
    groups_ : dict from str to tuple of str
        Names of the items of each variable, as :func:`~riskslim.at_most` and the other
        constraints take them. Of a column that stays as it is the name says the variable: one that
        is called "age >= 60" already is an item of "age".
    limited_ : dict from str to int
        Columns that have more thresholds than ``max_thresholds`` where all were asked for, and how
        many.
    constant_items_ : list of Item
        Items left out because all rows of fit with a positive weight have the same value.
    variables_ : dict from str to RawVariable
        What each column of fit was: its kind, its range or all of its levels, how many values are
        missing, in rows with a positive weight. :meth:`RiskScore.with_variables` takes it over.
    possible_codes_ : dict from str to dict from float to float
        Columns of 3 to 12 whole numbers, given to ``fit`` along with y, with which the outcome
        clearly neither rises nor falls: the share of rows with it by value. They may be codes that
        belong to ``categorical``, as a warning of the logger says. Empty without y.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X had names.

    Raises
    ------
    ValueError
        Missing values, unknown levels and infinite values as said above, with column and count;
        a column of 0 and 1 in fit with other values later; text where there were numbers; two
        items with one name; no item that is not constant; unknown names and values of parameters.
    TypeError
        Columns of dates, also as text unless ``categorical`` names them, and of other objects;
        columns of text and numbers.

    Notes
    -----
    The output is a data frame of the input's kind, or a NumPy array if X is one; ``set_output``
    chooses another one. To whoever gets this frame its columns are plain columns: pass
    ``RiskSLIMClassifier(items=encoder)`` the raw table, ``TrainingData(frame, y,
    items=encoder.items_)``, or the fitted score the encoder, ``score.with_variables(encoder)``. A
    record (a mapping from names to single values) becomes what X was in
    fit. Items are int8, and columns of ``numeric`` keep their type in data frames. Since arrays
    have no names, use data frames or ``set_output(transform="pandas")`` in front of an
    estimator that is to show the items' names.

    Thresholds are values of the column, so that "age >= 60" splits the rows of fit where a value
    of theirs lies. Numbers with many digits give thresholds with many digits, unless
    ``round_thresholds`` asks for others, or thresholds are given. How many thresholds are worth
    having, and what rounding does, is in docs/cutoffs.md.

    With ``sample_weight`` quantiles and frequencies are weighted, and rows with weight 0 do not
    count at all. A classifier with items refuses them where ``transform`` would.

    Examples
    --------
    >>> import pandas as pd
    >>> from riskslim import ItemEncoder
    >>> patients = pd.DataFrame(
    ...     {
    ...         "age": [38, 72, 61, None],
    ...         "sex": ["female", "male", "male", "female"],
    ...         "smoker": [True, False, True, True],
    ...     }
    ... )
    >>> encoder = ItemEncoder(thresholds={"age": [50, 70]}, missing="indicator")
    >>> items = encoder.fit_transform(patients)
    >>> items.columns.tolist()
    ['age >= 50', 'age >= 70', 'age is missing', 'sex = male', 'smoker']
    >>> items.to_numpy()
    array([[0, 0, 0, 0, 1],
           [1, 1, 0, 1, 0],
           [1, 0, 0, 1, 1],
           [0, 0, 1, 0, 1]], dtype=int8)
    >>> encoder.groups_["age"]
    ('age >= 50', 'age >= 70', 'age is missing')
    """

    items_: list[Item]
    groups_: dict[str, tuple[str, ...]]
    limited_: dict[str, int]
    possible_codes_: dict[str, dict[float, float]]
    constant_items_: list[Item]
    variables_: dict[str, RawVariable]

    def __init__(
        self,
        *,
        n_thresholds: int | Literal["all"] = 9,
        thresholds: Mapping[str, Sequence[float] | int | Literal["all", "supervised"]]
        | Literal["supervised"]
        | None = None,
        max_thresholds: int = 1000,
        threshold_position: Literal["value", "middle"] = "value",
        round_thresholds: bool = False,
        threshold_digits: int | None = None,
        direction: str | Mapping[str, str] = ">=",
        categorical: Sequence[str] = (),
        numeric: Sequence[str] | Literal["passthrough"] = (),
        missing: Literal["error", "indicator"] = "error",
        handle_unknown: Literal["error", "ignore"] = "error",
        min_frequency: float | None = None,
        min_events: int = 0,
        special_values: Mapping[str, Sequence[Any]] | Sequence[Any] | None = None,
        drop: Literal["if_binary"] | None = "if_binary",
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.n_thresholds = n_thresholds
        self.thresholds = thresholds
        self.max_thresholds = max_thresholds
        self.threshold_position = threshold_position
        self.round_thresholds = round_thresholds
        self.threshold_digits = threshold_digits
        self.direction = direction
        self.categorical = categorical
        self.numeric = numeric
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.min_events = min_events
        self.special_values = special_values
        self.drop = drop
        self.feature_names = feature_names

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ItemEncoder:
        """Choose the items.

        Parameters
        ----------
        X : data frame, Arrow table, mapping from names to columns, array or nested sequence
            Shape (n, d).
        y : array-like of shape (n,), optional
            Two distinct labels; needed where ``thresholds`` are "supervised". Elsewhere no item
            depends on them, but a note on columns that may be codes.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        ItemEncoder
            The encoder itself.
        """
        table = open_table(X)
        self._note_columns(X, table, reset=True)
        container = Container() if has_names(X) else Container.of(X)
        self._backend = container.backend
        self._columns = self._column_names(table)
        check_blanks(self._columns, "X has")
        rules = checked_rules(self, self._columns, container.categorical, container.ordered)
        weights = None
        if sample_weight is not None:
            if np.ma.is_masked(sample_weight):
                sample_weight = values_of(sample_weight, "sample_weight")
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        rows = WeightedRows(table.n_samples, weights)
        positive = self._positive(y, table.n_samples)
        events = None
        if positive is not None:
            events = rows.weights * rows.take(positive)
        outcome = outcome_of(y, table.n_samples)
        if outcome is not None:
            outcome = rows.take(outcome)

        encoders: list[ColumnEncoder] = []
        faults: list[tuple[int, ColumnError]] = []
        codes: dict[str, dict[float, float]] = {}
        special: dict[str, tuple[float, ...]] = {}
        for j, name in enumerate(self._columns):
            try:
                values = rows.take(table.values(j))
                encoders.append(fit_column(name, values, rows.weights, rules, events=events))
                if outcome is not None and (
                    rates := code_rates_of(encoders[-1], values, rows.weights, outcome)
                ):
                    codes[name] = rates
                if suspected := suspected_in(encoders[-1], values):
                    special[name] = suspected
            except ColumnError as fault:
                faults.append((j, rows.located(fault)))
        raise_faults(faults, self._columns, table.n_samples, _FIT_ADVICE)
        self._take_over(encoders, rows.n, rules, codes, special)
        return self

    def prepared(self, names: Sequence[str]) -> dict[str, tuple[float, ...]]:
        """Check the parameters before rows are read batch by batch.

        Parameters
        ----------
        names : sequence of str
            Of the columns.

        Returns
        -------
        dict from str to tuple of float
            Special values of columns.

        Raises
        ------
        ValueError, TypeError
            Parameters that :meth:`fit` refuses.
        """
        rules = checked_rules(self, names)
        return {name: rules.special_values(name) for name in rules.special}

    @property
    def uses_outcome(self) -> bool:
        """True if the outcome chooses cut-offs."""
        return is_supervised(self)

    def fit_summary(self, summary: TableSummary) -> ItemEncoder:
        """Choose the items from what one pass over batches of rows found out.

        Parameters
        ----------
        summary : TableSummary
            Of Arrow columns, :class:`riskslim.data.summaries.TableSummary`.

        Returns
        -------
        ItemEncoder
            The encoder itself. Of columns whose distinct values are all known it has the items
            that :meth:`fit` would choose. Of others quantiles are those of the sample, and items
            have no intervals; their range is that of all rows.

        Raises
        ------
        ValueError, TypeError
            As :meth:`fit`, with the file of the first row at fault; text with too many levels to
            be counted.
        """
        self._backend = "pyarrow"
        self._columns = [column.name for column in summary.columns]
        self.n_features_in_ = len(self._columns)
        self.feature_names_in_ = np.array(self._columns, dtype=object)
        rules = checked_rules(
            self,
            self._columns,
            frozenset(column.name for column in summary.columns if column.is_categorical),
        )
        encoders: list[ColumnEncoder] = []
        faults: list[tuple[int, ColumnError]] = []
        special: dict[str, tuple[float, ...]] = {}
        for j, name in enumerate(self._columns):
            try:
                encoders.append(fit_summarised(summary, j, rules))
                values, _, counts, _ = summary.short_column(j)
                if suspected := suspected_in(encoders[-1], values, counts):
                    special[name] = suspected
            except ColumnError as fault:
                faults.append((j, fault))
        raise_faults(faults, self._columns, summary.n_rows, _FIT_ADVICE)
        self._take_over(encoders, summary.n_counted, rules, {}, special)
        return self

    def transform(self, X: Any) -> Any:
        """Return the items of rows.

        Parameters
        ----------
        X : data frame, Arrow table, mapping, array or nested sequence
            The columns of fit; or a record, or a list of them, as in
            :meth:`RiskScore.score_samples`.

        Returns
        -------
        data frame or ndarray of shape (n, number of items)

        Warns
        -----
        ExtrapolationWarning
            Columns of numbers have values far outside of their range in fit
            (:func:`riskslim.data.extrapolation.far_values`): the unit may be another one. One
            warning names them all. Columns without items are not looked at.
        """
        check_is_fitted(self)
        table, container = self._open(X)
        block = np.empty((table.n_samples, len(self.items_)), dtype=np.int8, order="F")
        given: dict[int, Column] = {}  # columns of numbers that stay as they are, by item
        faults: list[tuple[int, ColumnError]] = []
        k = 0
        far: list[str] = []
        for j, encoder in enumerate(self._encoders):
            try:
                column = encoder.read(table.values(j), self.handle_unknown)
            except ColumnError as fault:
                faults.append((j, fault))
                continue
            if encoder.variable is not None and encoder.items:
                far.append(encoder.variable.far(column.values))
            for item in encoder.items:
                if item.kind == "numeric":
                    given[k] = column.values
                else:
                    encoder.write(item, column, block[:, k])
                k += 1
        raise_faults(faults, self._columns, table.n_samples, _TRANSFORM_ADVICE)
        warn_of_far_values(far)
        return self._in_container(block, given, container)

    def encode_batch(
        self, batch: pyarrow.RecordBatch, place: Callable[[int], str]
    ) -> tuple[NDArray[np.int8], dict[int, Column]]:
        """Return the items of a batch of Arrow rows.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            The columns of fit.
        place : callable
            Says where a row of the batch is, for errors.

        Returns
        -------
        block : int8 array of shape (n, number of items), Fortran order
        given : dict from int to ndarray of shape (n,)
            Columns that stay as they are, by item; ``block`` has nothing there.

        Raises
        ------
        ValueError, TypeError
            As :meth:`transform`, with the place of the first row at fault.
        """
        check_is_fitted(self)
        block = np.empty((batch.num_rows, len(self.items_)), dtype=np.int8, order="F")
        given, faults = write_items(self._encoders, batch, self.handle_unknown, block)
        for _, fault in faults:
            fault.place = place(fault.first)
        raise_faults(faults, self._columns, batch.num_rows, _TRANSFORM_ADVICE)
        return block, given

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the items.

        Parameters
        ----------
        input_features : array-like of str, optional
            If given, it has to be the names of the columns of fit.

        Returns
        -------
        ndarray of object, shape (number of items,)
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array([item.name for item in self.items_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_supervised(self):
            tags.target_tags.required = True
            tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing == "indicator"
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _take_over(
        self,
        encoders: list[ColumnEncoder],
        n: int,
        rules: ItemRules,
        codes: dict[str, dict[float, float]],
        special: dict[str, tuple[float, ...]],
    ) -> None:
        """Take over the encoders of the columns, fitted to so many rows."""
        self._encoders = encoders
        self.possible_codes_ = codes
        self.variables_ = {
            encoder.column: encoder.variable for encoder in encoders if encoder.variable is not None
        }
        self.items_ = [item for encoder in encoders for item in encoder.items]
        self.constant_items_ = [item for encoder in encoders for item in encoder.constant]
        self.limited_ = {one.column: one.n_cutoffs for one in encoders if one.n_cutoffs}
        self._check_items()
        if not is_part.get():
            self._report_levels(n, rules.categorical)
            if codes:
                logger.warning("%s", note_on_codes(codes))
            if special:
                logger.warning("%s", note_on_special(special))
        groups: dict[str, list[str]] = {}
        for item in self.items_:
            variable = variable_of(item.name, {item.name: item})
            groups.setdefault(variable, []).append(item.name)
        self.groups_ = {variable: tuple(names) for variable, names in groups.items()}

    def _positive(self, y: Any, n_samples: int) -> NDArray[np.bool_] | None:
        """Rows with the outcome, where it chooses cut-offs."""
        if not is_supervised(self):
            return None
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: with "
                "thresholds='supervised' the outcome chooses cut-offs. A pipeline hands on that "
                "of the training rows."
            )
        labels, _ = encode_labels(y, n_samples, None)
        return np.asarray(labels > 0)

    def _column_names(self, table: Table) -> list[str]:
        if table.names is not None:
            return [str(name) for name in table.names]
        if self.feature_names is None:
            return [f"x{j}" for j in range(table.n_features)]
        names = [str(name) for name in self.feature_names]
        if len(names) != table.n_features or len(set(names)) < len(names):
            raise ValueError(
                f"feature_names must be {table.n_features} different names, one for each column "
                f"of X, got {len(names)} names, {len(set(names))} of them different."
            )
        return names

    def _check_items(self) -> None:
        if not self.items_:
            n = max(variable.n_samples for variable in self.variables_.values())
            raise ValueError(
                f"No items can be made of X: all columns are constant (n_samples={n} with a "
                "positive weight). Rows have to differ in something for a score to use it."
                if not is_supervised(self)
                else "No items can be made of X: no threshold of any column tells the classes "
                f"apart, with enough rows on both sides (n_samples={n} with a positive weight). "
                "Lower min_frequency or min_events, or choose thresholds without the outcome."
            )
        names = [item.name for item in self.items_]
        if len(set(names)) < len(names):
            twice = listing(repr(name) for name in dict.fromkeys(names) if names.count(name) > 1)
            raise ValueError(
                f"Items of several columns have the same name: {twice}. Rename a column of X."
            )
        if self.limited_ and not is_part.get():
            logger.warning(
                "took %d thresholds at quantiles, max_thresholds, of columns that have more: %s",
                self.max_thresholds,
                listing(f"{name!r} ({count})" for name, count in self.limited_.items()),
            )
        if self.constant_items_ and not is_part.get():
            logger.warning(
                "left out %d items that are constant in the rows of fit: %s",
                len(self.constant_items_),
                listing(repr(item.name) for item in self.constant_items_),
            )

    def _report_levels(self, n: int, categorical: frozenset[str]) -> None:
        """Warn of columns whose levels are something else than levels."""
        n_items = Counter(item.variable for item in self.items_ if item.kind == "=")
        for name, variable in self.variables_.items():
            many = n_items[name] > MANY_LEVELS
            is_text = variable.kind == "categorical" and name not in categorical
            if is_text and n_items[name] > 1 and read_as_numbers(variable.levels, with_units=many):
                logger.warning(
                    "column %r is text that reads as numbers, such as %r, with an item for each of "
                    "%d values: make it a column of numbers; if they are codes, name it in "
                    "categorical",
                    name,
                    variable.levels[0],
                    n_items[name],
                )
            elif many and n_items[name] * ROWS_PER_LEVEL > n:
                logger.warning(
                    "column %r has %d levels in %d rows, an item for each: if it says who a row "
                    "is, leave it out; else put rare levels together (min_frequency)",
                    name,
                    n_items[name],
                    n,
                )
        for encoder in self._encoders:
            if encoder.is_identifier:
                logger.warning(
                    "column %r has different integers in nearly all of %d rows: if it says who a "
                    "row is, leave it out (--exclude on the command line); if not, thresholds of "
                    "your own for it say so",
                    encoder.column,
                    n,
                )

    def _note_columns(self, X: Any, table: Table, *, reset: bool) -> None:
        """Record the columns in fit; check that they are the same ones later."""
        if table.names is None or not has_names(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = table.n_features
            self.feature_names_in_ = np.array([str(name) for name in table.names], dtype=object)

    def _open(self, X: Any) -> tuple[Table, Container]:
        """Open rows to be encoded, and say what they come in."""
        table = open_records(X, self._columns, "columns of fit")
        if table is not None:
            return table, Container(self._backend)
        if (columns := record_of(X)) is not None:
            check_present(self._columns, [str(name) for name in columns], "columns of fit")
            X = {str(name): values for name, values in columns.items()}
            X = {name: X[name] for name in self._columns}
        table = open_table(X, may_be_empty=True)
        self._note_columns(X, table, reset=False)
        return table, Container.of(X)

    def _in_container(
        self, block: NDArray[np.int8], given: dict[int, Column], container: Container
    ) -> Any:
        """Return items in what scikit-learn's configuration or the input asks for."""
        configured = getattr(self, "_sklearn_output_config", {}).get("transform")
        configured = configured or get_config()["transform_output"]
        if configured != "default":
            container = Container(
                configured, container.index if container.backend == configured else None
            )
        if container.backend is not None:
            names = [item.name for item in self.items_]
            if configured != "default" and not given:
                frame = container.holding(block, names)
            else:
                columns = {name: given.get(k, block[:, k]) for k, name in enumerate(names)}
                frame = container.filled(columns)
            return frame
        if not given:
            return block
        array = block.astype(np.result_type(np.int8, *given.values()), order="F")
        for k, values in given.items():
            array[:, k] = values
        return array


@contextlib.contextmanager
def parts_of_a_table() -> Iterator[None]:
    """Fit and apply encoders to parts of rows, to all of which one is fitted, too, in this thread.

    They leave out what fits note on thresholds and constant items, which would repeat, in other
    numbers, what the fit to all rows says. Values that are missing in none of the rows for training
    are encoded as that fit encodes them: they meet no condition.
    """
    before = is_part.set(True)
    try:
        yield
    finally:
        is_part.reset(before)


def check_rows(encoder: ItemEncoder, table: Table, *, of_fit: bool = False) -> None:
    """Refuse rows that the encoder would not encode, without encoding them.

    Parameters
    ----------
    encoder : ItemEncoder
        Which is fitted.
    table : Table
        With the columns of fit.
    of_fit : bool, default False
        They are the rows of fit, those without a weight among them.

    Raises
    ------
    ValueError, TypeError
        As :meth:`ItemEncoder.transform`.
    """
    faults: list[tuple[int, ColumnError]] = []
    for j, one in enumerate(encoder._encoders):
        try:
            one.read(table.values(j), encoder.handle_unknown)
        except ColumnError as fault:
            faults.append((j, fault))
    advice = _WEIGHTLESS_ADVICE if of_fit else _TRANSFORM_ADVICE
    raise_faults(faults, encoder._columns, table.n_samples, advice)


def item_table(encoder: ItemEncoder, X: Any) -> Table:
    """Return the items of the rows of fit, each computed when it is read.

    Parameters
    ----------
    encoder : ItemEncoder
        Which was fitted to X.
    X : data frame, Arrow table, mapping from names to columns, array or nested sequence

    Returns
    -------
    Table
        With the names of the items. Of thousands of items it needs no more memory than one of
        them.

    Examples
    --------
    >>> import pandas as pd
    >>> from riskslim import ItemEncoder
    >>> from riskslim.items.encoder import item_table
    >>> raw = pd.DataFrame({"age": [38, 72, 61]})
    >>> table = item_table(ItemEncoder().fit(raw), raw)
    >>> table.names, table.values(1)
    (['age >= 61', 'age >= 72'], array([0, 1, 0], dtype=int8))
    """
    raw, _ = encoder._open(X)
    places = [(j, item) for j, one in enumerate(encoder._encoders) for item in one.items]
    last: dict[int, ReadColumn] = {}  # of a column that was read for one item the next one needs it

    def values(k: int) -> Column:
        j, item = places[k]
        if j not in last:
            last.clear()
            last[j] = encoder._encoders[j].read(raw.values(j), "ignore")
        if item.kind == "numeric":
            return last[j].values
        out = np.empty(raw.n_samples, dtype=np.int8)
        encoder._encoders[j].write(item, last[j], out)
        return out

    return Table(raw.n_samples, len(places), [item.name for _, item in places], values)
