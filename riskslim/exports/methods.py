"""The exports as methods of a risk score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from riskslim.score.presentation import Presentation

if TYPE_CHECKING:
    from riskslim.exports.terms import Inputs

__all__ = ["Exports"]


class Exports(Presentation):
    """The methods of a risk score that export it, as :mod:`riskslim.exports` promises."""

    def to_python(
        self,
        *,
        function_name: str = "predict_risk",
        inputs: Inputs | None = None,
        reasons: int | None = None,
        average: Mapping[str, float] | None = None,
    ) -> str:
        """Write the score as a Python function that needs no package.

        Parameters
        ----------
        function_name : str, default "predict_risk"
        inputs : {"raw", "items"}, optional
            What records have: the raw columns, of which items are computed, or the features
            with points. Default: "raw" where the score knows its ``variables``.
        reasons : int, optional
            The function returns at most so many variables, too, those that cost most points first.
        average : mapping from str to float, optional
            What points are compared with, from :meth:`average_points`. Default: the least ones.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_python`.

        Raises
        ------
        ValueError
            The name of the function is no identifier, or that of a builtin; ``inputs="raw"`` of a
            score that does not know its variables.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> namespace = {}
        >>> exec(RiskScore(-3, {"smoker": 3}).to_python(), namespace)
        >>> namespace["predict_risk"]({"smoker": 1})
        (0.5, 3)
        """
        from riskslim.exports.python import to_python

        return to_python(
            self, function_name=function_name, inputs=inputs, reasons=reasons, average=average
        )

    def to_javascript(
        self, *, function_name: str = "predictRisk", inputs: Inputs | None = None
    ) -> str:
        """Write the score as a JavaScript function.

        Parameters
        ----------
        function_name : str, default "predictRisk"
        inputs : {"raw", "items"}, optional
            As in :meth:`to_python`.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_javascript`.

        Raises
        ------
        ValueError
            The name of the function is no identifier of ASCII characters, or is reserved;
            ``inputs`` as in :meth:`to_python`.
        """
        from riskslim.exports.javascript import to_javascript

        return to_javascript(self, function_name=function_name, inputs=inputs)

    def to_sql(
        self,
        dialect: str = "ansi",
        *,
        table: str | Sequence[str] | None = None,
        boolean_columns: Iterable[str] = (),
        inputs: Inputs | None = None,
        score_column: str | None = None,
        risk_column: str | None = None,
        reasons: int | None = None,
        average: Mapping[str, float] | None = None,
    ) -> str:
        """Write the score as an SQL expression, or as a query of a table.

        Parameters
        ----------
        dialect : {"ansi", "bigquery", "databricks", "duckdb", "mariadb", "mysql", "postgresql", \
                "snowflake", "spark", "sqlite", "sqlserver"}, default "ansi"
        table : str or sequence of str, optional
            Name of a table, or the parts of a qualified one. Default: the expression alone.
        boolean_columns : iterable of str, optional
            Inputs whose columns are of type BOOLEAN.
        inputs : {"raw", "items"}, optional
            As in :meth:`to_python`.
        score_column, risk_column : str, optional
            Names of what the query adds: "score" and "risk". The database refuses a table with
            columns of these names.
        reasons : int, optional
            The query adds so many columns with the variables that cost most points.
        average : mapping from str to float, optional
            As in :meth:`to_python`.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_sql`.

        Raises
        ------
        ValueError
            An unknown dialect, a name that no column can have, names that the database does not
            tell apart, a boolean column that is no input of numbers, or ``inputs`` as in
            :meth:`to_python`.
        """
        from riskslim.exports.sql import to_sql

        return to_sql(
            self, dialect, table=table, boolean_columns=boolean_columns, inputs=inputs,
            score_column=score_column, risk_column=risk_column, reasons=reasons, average=average,
        )  # fmt: skip

    def to_pmml(self, *, inputs: Inputs | None = None) -> str:
        """Write the score as a PMML 4.4 document.

        Parameters
        ----------
        inputs : {"raw", "items"}, optional
            As in :meth:`to_python`.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_pmml`.

        Raises
        ------
        ValueError
            A name or a label has characters that XML cannot hold, both labels read the same, or
            ``inputs`` as in :meth:`to_python`.
        """
        from riskslim.exports.pmml import to_pmml

        return to_pmml(self, inputs=inputs)
