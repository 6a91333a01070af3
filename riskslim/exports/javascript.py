"""A score as a JavaScript function."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from riskslim.exports.common import check_function_name, headline_of, tabled_risks
from riskslim.exports.terms import Term, chosen_inputs, terms_of
from riskslim.score.link import link_of

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["to_javascript"]

# ---------------------------------------------------------------------------------------------
# JavaScript
# ---------------------------------------------------------------------------------------------

_JAVASCRIPT = """\
// {headline}.
// {name}(record) returns {{ {returned} }} of an object with the values of the {inputs}.
// {refused}
function {name}(record) {{
  "use strict";{helpers}
  let score = 0;
  for (const [points, value] of [{terms}]) {{
    score += points * value;
  }}
  if (!Number.isFinite(score)) {{
    throw new RangeError("the score overflows: the record has too large values");
  }}
  switch (score) {{{risks}}}
  // Not a score of the training data.
  const logOdds = ({intercept} + score) / {scale!r};
  const small = Math.exp(-Math.abs(logOdds));
  return {{ risk: (logOdds >= 0 ? 1 : small) / (1 + small), {total} }};
}}
if (typeof module !== "undefined" && module.exports) {{
  module.exports = {{ {name} }};
}}
"""

_JAVASCRIPT_NUMBER = """
  const get = (name) => {
    if (!Object.prototype.hasOwnProperty.call(record, name)) {
      throw new TypeError("the record lacks " + JSON.stringify(name));
    }
    return record[name];
  };
  const number = (name) => {
    const value = get(name);
    const converted = typeof value === "boolean" || typeof value === "bigint";
    const found = converted ? Number(value) : value;
    if (!Number.isFinite(found) || (converted && !Number.isSafeInteger(found))) {
      const got = String(value);
      throw new TypeError(JSON.stringify(name) + " must be a finite number, got " + got);
    }
    return found;
  };"""

_JAVASCRIPT_RAW = """
  const isMissing = (name, known) => {
    const value = get(name);
    const missing = value === null || value === undefined || Number.isNaN(value);
    if (missing && !known) {
      const never = " is missing, which it never was in the training data";
      throw new TypeError(JSON.stringify(name) + never);
    }
    return missing;
  };
  const numberOrNaN = (name, known) => isMissing(name, known) ? NaN : number(name);
  const level = (name, levels, known) => {
    if (isMissing(name, known)) return null;
    const value = get(name);
    const found = typeof value === "boolean" || typeof value === "bigint" ? Number(value) : value;
    if (!levels.includes(found)) {
      const wanted = " must be one of " + JSON.stringify(levels) + ", got ";
      throw new TypeError(JSON.stringify(name) + wanted + String(value));
    }
    return found;
  };"""


def _javascript_value(term: Term) -> str:
    column, known = javascript_text(term.column), str(term.may_lack).lower()
    if term.kind == "number":
        return f"number({column})"
    if term.kind == "comparison":
        found = f"numberOrNaN({column}, {known})"
        others = f" && !{javascript_text(term.exceptions)}.includes({found})"
        return f"{found} {term.operator} {term.value!r}{others if term.exceptions else ''}"
    if term.kind == "numbers":
        return f"{javascript_text(term.value)}.includes(numberOrNaN({column}, {known}))"
    if not term.levels:
        return f"isMissing({column}, {known}) || Number.isNaN(number({column}))"
    levels, named = (
        javascript_text([int(one) if isinstance(one, bool) else one for one in values])
        for values in (term.levels, term.value or ())
    )
    found = f"level({column}, {levels}, {known})"
    return f"{found} === null" if term.kind == "missing" else f"{named}.includes({found})"


# Words that are reserved or that the exported function uses.
_JAVASCRIPT_WORDS = frozenset(
    """
    arguments async await break case catch class const continue debugger default delete do else
    enum eval export extends false finally for function if implements import in instanceof
    interface let new null package private protected public return static super switch this
    throw true try typeof undefined var void while with yield Infinity JSON Math NaN Number
    Object RangeError String TypeError exports module require
    """.split()  # noqa: SIM905
)


def _is_free_in_javascript(name: str) -> bool:
    is_identifier = re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name) is not None
    return is_identifier and name not in _JAVASCRIPT_WORDS


def to_javascript(
    score: RiskScore, *, function_name: str = "predictRisk", inputs: str | None = None
) -> str:
    """Write a risk score as a JavaScript function.

    Parameters
    ----------
    score : RiskScore
    function_name : str, default "predictRisk"
    inputs : {"raw", "items"}, optional
        As in :func:`to_python`.

    Returns
    -------
    str
        A script, ASCII throughout, with one function that takes an object with the inputs
        as its own properties, and returns an object with `risk` and `score`, and of a score with an
        operating point `positive`: whether the score is at least the threshold. It throws where
        :meth:`~riskslim.RiskScore.predict_proba` raises. In a browser the function is global, in
        CommonJS it is exported; it stands in a script element of HTML as it is. Of raw
        columns null, undefined and NaN are missing.

    Raises
    ------
    ValueError
        The name of the function is no identifier of ASCII characters, or is reserved; ``inputs`` as
        in :func:`to_python`.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.exports import to_javascript
    >>> script = to_javascript(RiskScore(-3, {"smoker": 2}))
    >>> print(script[script.index("  switch") : script.index("  // Not")])  # doctest: +ELLIPSIS
      switch (score) {
        case 0: return { risk: 0.04742587317756..., score };
        case 2: return { risk: 0.26894142136999..., score };
      }
    <BLANKLINE>
    """
    check_function_name(function_name, "JavaScript", _is_free_in_javascript)
    chosen = chosen_inputs(score, inputs)
    link = link_of(score)
    all_terms = terms_of(score, chosen)
    has_conditions = any(term.kind != "number" for term in all_terms)
    terms = "".join(f"\n    [{term.points}, {_javascript_value(term)}]," for term in all_terms)
    refused = "They are numbers or booleans. It throws where one is missing, not finite or another."
    if chosen == "raw":
        refused = (
            "null, undefined and NaN are missing. It throws where a value is one that the training "
            "data\n// cannot have had: text for a number, an unknown level, missing where none was."
        )
    # As on the sheet, which may show other points than the fitted ones.
    total = f"score: score + ({link.shift})" if link.shift else "score"
    point = score.operating_point
    if point is not None:
        total = f"{total}, positive: score >= {point.threshold!r}"
    risks = "".join(
        f"\n    case {sum_of_points}: return {{ risk: {risk!r}, {total} }};"
        for sum_of_points, risk in tabled_risks(score).items()
    )
    return _JAVASCRIPT.format(
        headline=javascript_text(headline_of(score)).strip('"'),
        name=function_name,
        returned="risk, score" if point is None else "risk, score, positive",
        inputs="features" if chosen == "items" else "raw columns",
        refused=refused,
        helpers=_JAVASCRIPT_NUMBER + (_JAVASCRIPT_RAW if has_conditions else ""),
        terms=f"{terms}\n  " if terms else "",
        risks=f"{risks}\n  " if risks else "",
        total=total,
        intercept=link.intercept,
        scale=link.scale,
    )


def javascript_text(value: Any) -> str:
    """Text, or what else JSON has, as a literal that ends no script element around it.

    Parameters
    ----------
    value : str, or any value that JSON can hold

    Returns
    -------
    str
        One line of ASCII.
    """
    return json.dumps(value).replace("<", "\\u003c")
