"""Rows to scores, risks and labels, and what is odd about rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.extrapolation import far_values, warn_of_far_values
from riskslim.data.faults import ColumnError
from riskslim.data.lazy import is_collection, of_rows
from riskslim.data.tables import Table
from riskslim.items.rules import HandleUnknown, check_names, computed_items, in_kind_of
from riskslim.items.variables import RawVariable
from riskslim.score.cutoff_ranges import remark_on_ranges_of_cutoffs
from riskslim.score.fields import ScoreFields
from riskslim.score.link import link_of
from riskslim.score.observations import class_labels
from riskslim.score.rows import ScoredRows, named_rows, numbers_of, remarks_on_ranges
from riskslim.score.table import logistic

if TYPE_CHECKING:
    from typing_extensions import Self

    from riskslim.items.encoder import ItemEncoder

__all__ = ["Predictions"]


class Predictions(ScoreFields):
    """The methods of a risk score that predict."""

    def score_samples(self, X: Any) -> NDArray[Any]:
        r"""Compute the score, the sum of the points, of each row.

        Parameters
        ----------
        X : array-like of shape (n, d), data frame, mapping, or list of mappings
            An array or nested lists with all features in the order of ``feature_names``; or
            anything with names, of which only the features with points are read: any data frame
            that narwhals understands, :class:`~riskslim.TrainingData`, a mapping from names to
            columns, a mapping or a pandas series from names to the values of one row, or a list
            of such rows. A Dask data frame or array: what is returned is then a Dask array, and
            nothing is computed before it is asked for. Of a score that knows its ``variables``, raw
            columns will do: features that X lacks are computed from them as by :meth:`with_items`;
            and arrays and nested lists have the raw columns, in the order of ``variables`` (then
            features with points that are computed from none of these), never items.

        Returns
        -------
        ndarray of shape (n,)
            int64 where all values that were read are integers, else float64; float64 of Dask
            collections.

        Raises
        ------
        ValueError, TypeError
            Features are missing, the number of columns is wrong, or values are missing, infinite
            or no numbers; an item, of which it is stated what it is, has other values than 0 and 1;
            columns are named, rows counted. Raw columns have levels that the training data did not
            have.

        Warns
        -----
        ExtrapolationWarning
            Features, or raw columns that they are computed from, have values far outside of their
            range in the training data, by more than its width: the unit may be another one. One
            warning names them all.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 2, "exercise": -1}).score_samples([[1, 0], [1, 1], [0, 1]])
        array([ 2,  1, -1])
        """
        if is_collection(X):
            return self._later(X, type(self).score_samples, np.float64)
        return self._rows(X).scores(self.points)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        r"""Compute the log-odds :math:`(\lambda_0 + \sum_j \lambda_j x_j) / m` of each row.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of float64, shape (n,)
            Natural logarithm of risk / (1 - risk): positive where the positive class is more
            likely. Of a score with the scale 1 these are points, intercept included; with another
            scale m, points divided by m.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 5}, scale=2.5).decision_function([[0], [1]])
        array([-1.2,  0.8])
        """
        if is_collection(X):
            return self._later(X, type(self).decision_function, np.float64)
        return link_of(self).log_odds(self.score_samples(X).astype(np.float64))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        r"""Compute the probability of each class.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes``: the second one is the risk. With the scale 1 both
            columns are accurate to a few units in the last place, however small they are; with
            another one, to a few units of it times the log-odds, which are rounded.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 2}).predict_proba([[0], [1]]).round(4)
        array([[0.9526, 0.0474],
               [0.7311, 0.2689]])
        """
        if is_collection(X):
            return self._later(X, type(self).predict_proba, np.float64, 2)
        odds = self.decision_function(X)
        return np.column_stack((logistic(-odds), logistic(odds)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of shape (n,)
            The positive label where the risk is above 50%, else the negative one.
        """
        labels = class_labels(self.classes)
        if is_collection(X):
            return self._later(X, type(self).predict, labels.dtype)
        return np.asarray(labels[(self.decision_function(X) > 0).astype(np.intp)])

    def remarks(self, X: Any = None) -> tuple[str, ...]:
        """Return what is worth knowing about the score, or about predictions for some rows.

        Parameters
        ----------
        X, optional
            As in :meth:`score_samples`.

        Returns
        -------
        tuple of str
            One sentence if the classes were weighted in training, so that risks are not calibrated;
            in its place, one that says for which rows the score was recalibrated.
            Without rows, one on how far cut-offs can be moved before the objective changes, where
            that is known (:meth:`with_cutoff_ranges`). With rows, one for each feature with points
            that has values outside of its range in the training data, and for each raw column of
            the score's ``variables`` that has: predictions for these rows extrapolate, or the unit
            is another one. One for each variable with conditions that contradict each other, such
            as "age >= 60" without "age >= 40": neither sheets nor rules are about such rows.
            Empty if there is nothing to say.

        Raises
        ------
        ValueError, TypeError
            As in :meth:`score_samples`.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.risk_score import FeatureRange
        >>> score = RiskScore(-5, {"visits": 2}, feature_ranges={"visits": FeatureRange(0, 7)})
        >>> for remark in score.remarks({"visits": [3, 0, 12]}):
        ...     print(remark)
        1 of 3 rows have values outside of the training range of 'visits' (0 to 7), first at row 2
        (rows counted from 0).
        """
        if X is None:
            of_cutoffs = remark_on_ranges_of_cutoffs(self.cutoff_ranges, self.items)
            return (*self._of_risks(), *filter(None, [of_cutoffs]))
        if self.variables:
            X, _ = self._with_items(X, "error")
        rows = self._opened(X)
        return (
            *self._of_risks(),
            *rows.remarks(self.feature_ranges, self.items),
            *remarks_on_ranges(rows.table, self._columns_of_items()),
        )

    def _of_risks(self) -> tuple[str, ...]:
        """Say which rows the risks are for, where that is not rows like the training rows."""
        if self.recalibration is not None:
            return (self.recalibration.describe(self._positive, self.scale),)
        if self.class_weighting is None:
            return ()
        return (self.class_weighting.describe(self._positive),)

    @property
    def _positive(self) -> str:
        return f"{self.outcome_name} = {self.classes[1]}"

    def with_items(self, X: Any, *, handle_unknown: HandleUnknown = "error") -> Any:
        """Add the conditions that raw records lack, computed from their columns by name.

        Parameters
        ----------
        X : data frame, mapping, list of mappings, or array-like of shape (n, d)
            Records with raw columns: for the feature "age >= 60" the column "age", for "sex = male"
            the column "sex". Arrays have no names: those of raw columns are as in
            :meth:`score_samples`.
        handle_unknown : {"error", "ignore"}, default "error"
            Levels that did not occur in the training data, where the score knows its
            ``variables``: refuse them, or let them meet no condition and log a warning.

        Returns
        -------
        data frame, or dict from str to ndarray of shape (n,)
            The columns of X and, behind them, the features with points that X lacked, as 0 and
            1: for the methods of the score and its rules. A data frame of the library of X, if
            that is one, with the same labels of rows; otherwise a mapping.

        Raises
        ------
        ValueError, TypeError
            Missing values, unless the score knows what they mean; unknown levels; text where
            numbers are needed; names that are conditions on several columns; conditions that X
            has with other values than 0 and 1.

        Warns
        -----
        ExtrapolationWarning
            Raw columns that items are computed from have values far outside of their range in the
            training data (:func:`riskslim.data.extrapolation.far_values`): the unit may be another
            one. One warning names them all.

        See Also
        --------
        riskslim.items.rules.with_items : what it is computed by, with all details.
        riskslim.ItemEncoder : makes such conditions.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
        >>> raw = {"age": [47, 60, 71], "sex": ["male", "female", "male"]}
        >>> score.with_items(raw)["age >= 60"]
        array([0, 1, 1], dtype=int8)
        >>> score.score_samples(score.with_items(raw))
        array([1, 2, 3])
        """
        return in_kind_of(X, self._table_with_items(X, handle_unknown), self.points)

    def _table_with_items(self, X: Any, handle_unknown: HandleUnknown = "error") -> Table:
        """As :meth:`with_items`, as columns that are read one at a time."""
        table, sources = self._with_items(X, handle_unknown)
        warn_of_far_values(self._far_columns(table, sources))
        return table

    def _far_columns(self, table: Table, sources: Mapping[str, str]) -> Iterator[str]:
        """Say which raw columns that items are computed from have values far outside."""
        computed_from = set(sources.values())
        used = [one for name, one in self.variables.items() if name in computed_from]
        for variable, values in numbers_of(table, used):
            yield variable.far(values)

    def _far_features(self, rows: ScoredRows) -> Iterator[str]:
        """Say which features have values far outside of their range in training."""
        for name, known in self.feature_ranges.items():
            variable = self.variables.get(name)
            has_range = variable is not None and bool(variable.range_text)
            if known.is_binary and not has_range:
                continue
            values = np.asarray(rows.table.column(rows.positions[name]), dtype=np.float64)
            if variable is not None and has_range:
                yield variable.far(values)
            else:
                yield far_values(name, known.minimum, known.maximum, values)

    def _with_items(self, X: Any, handle_unknown: HandleUnknown) -> tuple[Table, dict[str, str]]:
        return computed_items(
            self._named(X),
            tuple(self.points),
            self.feature_names,
            self.variables,
            self.items,
            handle_unknown=handle_unknown,
        )

    def _columns_of_items(self) -> list[RawVariable]:
        """Variables that are no features themselves."""
        return [one for name, one in self.variables.items() if name not in self.points]

    def with_variables(self, encoder: ItemEncoder | Iterable[RawVariable]) -> Self:
        """Take over what is known of the raw columns that items were made of.

        The score then applies to raw records by itself, checks them, says how missing values
        count, and is exported as a function of raw columns. What it knows is saved with it.

        Parameters
        ----------
        encoder : ItemEncoder or iterable of RawVariable
            The fitted encoder whose items the features are, or what its ``variables_`` are.

        Returns
        -------
        RiskScore
            The same score with ``variables``.

        Raises
        ------
        TypeError
            ``encoder`` is neither a fitted encoder nor what describes columns.
        ValueError
            No feature with points is an item of these columns; or an item has the name of one of
            these columns.

        Examples
        --------
        >>> import pandas as pd
        >>> from riskslim import ItemEncoder, RiskScore
        >>> raw = pd.DataFrame({"age": [38, 72, 61, 50], "sex": ["f", "m", "m", "f"]})
        >>> encoder = ItemEncoder(thresholds={"age": [60]}).fit(raw)
        >>> score = RiskScore(-2, {"age >= 60": 2, "sex = m": 1}).with_variables(encoder)
        >>> score.variables["sex"].levels
        ('f', 'm')
        >>> score.score_samples({"age": 64, "sex": "m"})
        array([3])
        >>> try:
        ...     score.score_samples({"age": 64, "sex": "male"})
        ... except ValueError as error:
        ...     print(str(error)[:49])
        Found unknown categories 'male' during transform.
        """
        known = getattr(encoder, "variables_", encoder)
        if not isinstance(known, Iterable) or hasattr(encoder, "steps"):
            raise TypeError(
                "pass the fitted ItemEncoder that made the items, such as pipeline[0], got "
                f"{type(encoder).__name__}{'' if hasattr(encoder, 'steps') else ', not fitted'}"
            )
        listed = tuple(known.values() if isinstance(known, Mapping) else known)
        strange = next((one for one in listed if not isinstance(one, RawVariable)), None)
        if strange is not None:
            raise TypeError(
                "pass the fitted ItemEncoder that made the items, or RawVariables, got "
                f"{type(encoder).__name__} with {strange!r}"
            )
        known = {one.name: one for one in listed}
        items = {item.name: item for item in getattr(encoder, "items_", ())}
        items = {name: items[name] for name in self.points if name in items}
        check_names(items.values(), known)
        score = self._replaced(variables=known, items={**self.items, **items})
        if self.points and not score.variables:
            raise ValueError(
                f"no feature with points ({listing(map(repr, self.points))}) is made of the "
                f"columns {listing(map(repr, known))}: pass the encoder whose items they are"
            )
        return score

    def _later(
        self, X: Any, method: Callable[..., Any], dtype: Any, n_columns: int | None = None
    ) -> NDArray[Any]:
        """Return a method's results for the rows of a Dask collection, as a Dask array."""
        names = () if self.variables else tuple(self.points)
        call = partial(method, self)
        # To type checkers it is the array that it will be.
        found: NDArray[Any] = of_rows(X, call, dtype=dtype, n_columns=n_columns, names=names)
        return found

    def _rows(self, X: Any) -> ScoredRows:
        table: Any = X
        sources: dict[str, str] = {}
        if self.variables:
            table, sources = self._with_items(X, "error")
        rows = self._opened(table)
        far = [] if not sources else [*self._far_columns(rows.table, sources)]
        try:
            far += self._far_features(rows)
        except ColumnError:
            return rows  # whoever adds up the scores says what is wrong, and in which rows
        warn_of_far_values(far)
        return rows

    def _opened(self, X: Any) -> ScoredRows:
        return ScoredRows.open(X, tuple(self.points), self.feature_names, self.items)

    def _named(self, X: Any) -> Any:
        """Rows in which raw columns have names, where the score knows them."""
        return named_rows(X, self.points, self.variables, self.items) if self.variables else X
