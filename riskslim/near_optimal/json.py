"""Alternatives as JSON: format and versions.

The file has one object with these keys. A set is the items with points of one alternative; sets are
in the order of their objective, and a list "of each set" has one value for each, in this order.
A value that is not defined is ``null``; an infinite bound is the text "inf" or "-inf".

``format``, ``version``, ``created_by``
    "riskslim.alternatives", 1, and the program.
``within``
    The share: objectives are at most (1 + within) times the best.
``feature_names``, ``variables``
    All features that could be chosen, and the variable of each.
``sets``
    Of each set an object: ``objective``, ``lower_bound`` (of all scores of exactly this set, or
    ``null``), ``intercept``, ``scale``, and ``points``, an object from features to whole numbers.
``is_complete``, ``bound``, ``intercepts``
    As in :class:`~riskslim.SolutionPool`: no set that is not listed has a score with an objective
    below ``bound``.
``certificate``
    Of the best score, as in the file of a score.
``prices``, ``variable_prices``
    Of each item, or variable, that was asked for an object: ``feature`` (or the variable),
    ``is_used`` (in the best score: the question is "without it", else "with it"), ``objective``,
    ``lower_bound``, ``is_proven``, and ``score``, the one that attains the objective as an object
    with ``intercept``, ``scale`` and ``points``, or ``null``.
``costs``
    An object from names to what it costs to measure them, or ``null``; the cost of a set is the
    sum over its variables.
``measures``
    For the training rows, and for the test rows where there are some, an object: ``rows`` (what
    they are called), ``n_rows``, ``threshold``, ``specificity``, ``groups`` (labels, or empty), and
    the lists of each set ``loss``, ``auc``, ``cal``, ``sensitivity`` (at that specificity),
    ``sensitivity_gap``, ``specificity_gap``, ``called_gap`` (largest difference between groups).
``agreement``
    For the same rows an object: ``rows``, ``threshold``, ``n_alternatives``, and ``groups``, of
    which the first is that of all rows: ``group`` (its label; ``null`` for all), ``n_rows``,
    ``share``, ``ambiguity``, ``discrepancy``, ``mean_range``, ``median_range``, ``largest_range``,
    and ``range_shares``, the shares of rows whose risks differ by at least 0, 5, 10, 20, 30 and 50
    percentage points and by less than the next of these.
``stability``
    ``null``, or an object: ``n_samples``, ``n_proven``, ``n_asked``, ``seed``, the objects
    ``items`` and ``variables`` from names to the number of samples whose best score has them,
    ``sets``, of each set the number of samples whose best score has it, and ``others``, of sets
    that are not listed a list of objects with ``items`` and ``n_samples``.
``digest``
    Of all of this, which tells a file that was changed.
"""

from __future__ import annotations
