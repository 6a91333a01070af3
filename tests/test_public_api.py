"""The public names: what they are called with, what their docstrings say, that examples run.

After a deliberate change, `python tests/test_public_api.py` prints the new snapshot.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
import warnings
from collections.abc import Iterator

import pytest

import riskslim
from paths import DOCS, ROOT

# Parameters in order with their defaults. Annotations are mypy's.
SNAPSHOT = """
Alternatives (solution, within, variables, penalties, ridges, prices=(), variable_prices=(), measures=(), agreement=(), stability=None, costs=None)
Alternatives.items (self, rank)
Alternatives.objective (self, rank)
Alternatives.share (self, rank)
Alternatives.score (self, data, rank=0, **options)
Alternatives.chosen (self, rank)
Alternatives.lines (self, by='variables')
Alternatives.table (self, most=10, by='variables')
Alternatives.explain (self)
Alternatives.compare (self, data, **options)
Alternatives.with_stability (self, problem, n_samples=100, **options)
Alternatives.with_costs (self, costs)
Alternatives.cost (self, rank)
Alternatives.to_json (self)
Alternatives.from_json (cls, text)
Alternatives.save (self, path)
Alternatives.load (cls, path)
Alternatives.pool property
BranchAndBoundSettings (branching='look_ahead', memory_limit=2147483648, tables='auto', cutoffs='auto', elimination='auto')
Certificate (status, objective, loss, model_size, lower_bound, gap_tolerance, bound_tolerance, engine, n_samples, message='', scale=1.0, scales=ScaleSet(1), ridge=0.0, rule=None)
Certificate.explain (self, *, with_scales=True)
Certificate.faults (self)
Certificate.to_dict (self)
Certificate.from_dict (cls, values)
Certificate.optimality_gap property
Certificate.is_optimal property
CoefficientSet (feature_names, lower=-5, upper=5, *, sign=None, l0_penalty=None, fixed=None, values=None, intercept_lower=None, intercept_upper=None)
CoefficientSet.index (self, name)
CoefficientSet.replace (self, *, fix_at_zero=(), within=None, intercept_lower=None, intercept_upper=None)
CoefficientSet.gaps property
CsvFormat (missing=('#N/A', '#N/A N/A', '#NA', '-1.#IND', '-1.#QNAN', '-NaN', '-nan', '1.#IND', '1.#QNAN', 'N/A', 'NA', 'NULL', 'NaN', 'n/a', 'nan', 'null'), separator=',', decimal='.', encoding='utf-8')
CsvFormat.to_plain (self)
CsvFormat.from_plain (cls, plain)
CsvFormat.is_utf8 property
ItemEncoder (*, n_thresholds=9, thresholds=None, max_thresholds=1000, threshold_position='value', round_thresholds=False, threshold_digits=None, direction='>=', categorical=(), numeric=(), missing='error', handle_unknown='error', min_frequency=None, min_events=0, special_values=None, drop='if_binary', feature_names=None)
ItemEncoder.fit (self, X, y=None, sample_weight=None)
ItemEncoder.prepared (self, names)
ItemEncoder.fit_summary (self, summary)
ItemEncoder.transform (self, X)
ItemEncoder.encode_batch (self, batch, place)
ItemEncoder.get_feature_names_out (self, input_features=None)
ItemEncoder.uses_outcome property
ItemPrice (feature, is_used, objective, lower_bound, best, coefficients, is_proven)
ItemPrice.explain (self)
ItemPrice.price property
ItemPrice.lowest_price property
LatticeCPASettings (initialization=True, native_root=True, probing=True, chained_updates=True, rounding=True, polishing=True, polishing_margin=0.1, fractional_rounds=None, fractional_threshold=0.001, cut_pool=1000, sign_split=False, branching_priority=None, swaps=True, initialization_time_limit=20.0, initialization_gap=0.001, initialization_max_iterations=500, subsampling=None, subsampling_delta=0.05)
LinearConstraint (*, points=None, used=None, any_used=None, lower=-inf, upper=inf, name=None)
LinearConstraint.describe (self)
LinearConstraint.resolve (self, setting)
LinearConstraint.on (self, setting)
LinearConstraint.name property
LinearConstraint.depends_on_scale property
LinearConstraint.label property
LinearConstraint.points property
LinearConstraint.used property
LinearConstraint.any_used property
LinearConstraint.lower property
LinearConstraint.upper property
LogisticLoss (data, coefficients, *, max_size=None, n_threads=1, compress='auto', scale=1.0)
LogisticLoss.on_rows (self, rows)
LogisticLoss.at_scale (self, scale)
LogisticLoss.with_scales (self, scale)
LogisticLoss.reaching (self, least, most)
LogisticLoss.for_size (self, max_size)
LogisticLoss.best_scale (self, coef, *, ridge=0.0)
LogisticLoss.blocks (self, should_stop=None)
LogisticLoss.tighten (self, max_size, *, should_stop=None)
LogisticLoss.value (self, coef, *, every_row=False)
LogisticLoss.values (self, coefs)
LogisticLoss.values_and_gradients (self, coefs)
LogisticLoss.value_and_gradient (self, coef)
LogisticLoss.hessian (self, coef, features=None)
LogisticLoss.scores (self, coef)
LogisticLoss.value_of_scores (self, scores)
LogisticLoss.bounds (self, max_size=None, *, should_stop=None)
LogisticLoss.reference_value (self, coef)
LogisticLoss.rows property
LogisticLoss.n_samples property
LogisticLoss.n_rows property
LogisticLoss.n_threads property
LogisticLoss.given_coefficients property
RiskSLIMClassifier (*, max_size=5, max_coef=5, max_intercept=None, l0_penalty=1e-06, l2_penalty=None, shrinkage='auto', time_limit=60.0, gap_tolerance=0.0, engine='auto', scale='auto', constraints=(), n_threads=1, random_state=0, verbose=0, min_size=0, min_coef=None, sign=None, fixed=None, coef_values=None, class_weight=None, solver='cplex', settings=None, node_limit=None, n_solutions=None, within=None, items=None, items_per_variable=None, monotone=None, positive_label=None, start=None, points='fitted', sensitivity=None, specificity=None)
RiskSLIMClassifier.fit (self, X, y=None, sample_weight=None)
RiskSLIMClassifier.predict (self, X)
RiskSLIMClassifier.predict_proba (self, X)
RiskSLIMClassifier.predict_log_proba (self, X)
RiskSLIMClassifier.decision_function (self, X)
RiskSLIMClassifier.score_samples (self, X)
RiskSLIMClassifier.alternatives (self, X, y=None, sample_weight=None, *, within=0.01, prices=None, n_sets=None)
RiskSLIMClassifier.required_share (self)
RiskSLIMClassifier.problem_on (self, data)
RiskSLIMClassifier.laid_out (self, score)
RiskSLIMClassifierCV (*, shrinkages=(0, 0.25, 0.5, 1, 2, 4, 8), sizes=None, cv=5, rule='best_mean', n_jobs=1, max_size=5, max_coef=5, max_intercept=None, l0_penalty=1e-06, time_limit=60.0, gap_tolerance=0.0, engine='auto', scale='auto', constraints=(), n_threads=1, random_state=0, verbose=0, min_size=0, min_coef=None, sign=None, fixed=None, coef_values=None, class_weight=None, solver='cplex', settings=None, node_limit=None, n_solutions=None, within=None, items=None, items_per_variable=None, monotone=None, positive_label=None, points='fitted', sensitivity=None, specificity=None)
RiskSLIMClassifierCV.fit (self, X, y=None, sample_weight=None, groups=None)
RiskSLIMClassifierCV.predict (self, X)
RiskSLIMClassifierCV.predict_proba (self, X)
RiskSLIMClassifierCV.predict_log_proba (self, X)
RiskSLIMClassifierCV.decision_function (self, X)
RiskSLIMClassifierCV.score_samples (self, X)
RiskSLIMClassifierCV.alternatives (self, X, y=None, sample_weight=None, *, within=0.01, prices=None, n_sets=None)
RiskSLIMClassifierCV.required_share (self)
RiskSLIMClassifierCV.problem_on (self, data)
RiskSLIMClassifierCV.laid_out (self, score)
RiskScore (intercept, points, *, outcome_name='outcome', classes=(0, 1), feature_names=(), feature_ranges=<factory>, certificate=None, scale=1.0, variables=<factory>, class_weighting=None, items=<factory>, csv_format=None, cutoff_ranges=<factory>, prevalence=None, recalibration=None, requirements=(), fit_remarks=(), labels=<factory>, layout=<factory>, operating_point=None)
RiskScore.from_solution (cls, solution, data, *, rank=0, problem=None, encoder=None, raw=None, with_remarks=True)
RiskScore.from_coefficients (cls, coef, data, *, scale=1.0, certificate=None)
RiskScore.score_samples (self, X)
RiskScore.log_odds (self, X)
RiskScore.decision_function (self, X)
RiskScore.predict_proba (self, X)
RiskScore.predict (self, X)
RiskScore.remarks (self, X=None)
RiskScore.with_items (self, X, *, handle_unknown='error')
RiskScore.risk_table (self, X=None, y=None, sample_weight=None, *, extreme=0.001, max_rows=None)
RiskScore.sheet (self, X=None, y=None, sample_weight=None, *, extreme=0.001, max_rows=30, by=None, points=None)
RiskScore.bands (self, points=None)
RiskScore.scorecard (self, X=None, y=None, sample_weight=None, *, base_points=600, base_odds=50, pdo=20, higher_is='safer', span=None, extreme=0.001, max_rows=30)
RiskScore.to_markdown (self)
RiskScore.to_html (self)
RiskScore.to_latex (self)
RiskScore.plot (self, ax=None)
RiskScore.explain (self, record, threshold=None, *, fixed=(), average=None, best='measured')
RiskScore.explain_rows (self, X, threshold=None, *, fixed=(), average=None, best='measured')
RiskScore.average_points (self, X, sample_weight=None)
RiskScore.operating_points (self, X, y, sample_weight=None)
RiskScore.boolean_rule (self, threshold=None, *, max_terms=1000)
RiskScore.methods_text (self, cv=None)
RiskScore.report (self, path, X, y=None, sample_weight=None, *, X_test=None, y_test=None, sample_weight_test=None, cv=None, problem=None, size_path=None, bins=None, n_resamples=None, groups=(), group_threshold=None, alternatives=None, title=None)
RiskScore.validate (self, X, y, sample_weight=None, *, thresholds=None, n_resamples=None)
RiskScore.with_variables (self, encoder)
RiskScore.with_cutoff_ranges (self, X, y, sample_weight=None, *, share=0.001)
RiskScore.recalibrated (self, X=None, y=None, sample_weight=None, *, prevalence=None, from_prevalence=None, with_scale=False)
RiskScore.with_operating_point (self, X=None, y=None, sample_weight=None, *, sensitivity=None, specificity=None, threshold=None, X_test=None, y_test=None, sample_weight_test=None)
RiskScore.with_units (self, units)
RiskScore.with_labels (self, labels)
RiskScore.with_layout (self, *, by=None, points=None)
RiskScore.with_dummies (self, groups)
RiskScore.to_python (self, *, function_name='predict_risk', inputs=None, reasons=None, average=None, best=None, fixed=())
RiskScore.to_javascript (self, *, function_name='predictRisk', inputs=None)
RiskScore.to_sql (self, dialect='ansi', *, table=None, boolean_columns=(), inputs=None, score_column=None, risk_column=None, reasons=None, average=None, best=None, fixed=())
RiskScore.to_pmml (self, *, inputs=None)
RiskScore.to_json (self)
RiskScore.from_json (cls, text)
RiskScore.save (self, path)
RiskScore.load (cls, path)
RiskScoreProblem (data, coefficients, *, max_size=None, min_size=0, l0_penalty=1e-06, l2_penalty=0.0, constraints=(), scale=ScaleSet(1), n_threads=1, compress='auto')
RiskScoreProblem.at_scale (self, scale)
RiskScoreProblem.reaching (self, least, most)
RiskScoreProblem.without_rates (self)
RiskScoreProblem.restated (self, data=None, *, max_size=None, points=None)
RiskScoreProblem.objective (self, coef, *, scale=None)
RiskScoreProblem.best_scale (self, coef)
RiskScoreProblem.reported_scale (self, coef)
RiskScoreProblem.smallest_points (self, coef)
RiskScoreProblem.penalty (self, coef, *, scale=None)
RiskScoreProblem.ridge (self, coef, *, scale=None)
RiskScoreProblem.sum_of_squares (self, coef)
RiskScoreProblem.model_size (self, coef)
RiskScoreProblem.is_feasible (self, coef)
RiskScoreProblem.violations (self, coef)
RiskScoreProblem.requirements (self, coef)
RiskScoreProblem.remarks (self, coef, *, scale=None)
RiskScoreProblem.is_constrained_per_scale property
RiskScoreProblem.rates property
RiskScoreProblem.n_features property
RiskScoreProblem.scales property
RiskScoreProblem.open_intercepts property
RiskScoreProblem.intercept_is_derived property
RiskScoreProblem.required property
RiskScoreProblem.usable property
RiskScoreProblem.infeasibility property
RiskScoreProblem.point_ridge property
RiskSlimLP (problem, bounds)
RiskSlimLP.should_prefer_indicators (self, wanted)
RiskSlimLP.check_stop (self, n_rows)
RiskSlimLP.bounds_of_variables (self, bounds)
RiskSlimLP.cut_terms (self, cut)
RiskSlimLP.coef_and_loss (self, values)
RiskSlimLP.solution_vector (self, coef, loss)
RiskSlimLP.prefer_indicators (self)
RiskSlimLP.cut_row (self, cut)
RiskSlimLP.add_cuts (self, cuts, *, lazy=False)
RiskSlimLP.add_ridge_rows (self, rows)
RiskSlimLP.indicators property
RiskSlimLP.max_cuts property
RiskSlimMIP (problem, bounds, *, relaxed=False, box=None, sign_split=False, should_stop=None)
RiskSlimMIP.should_prefer_indicators (self, wanted)
RiskSlimMIP.check_stop (self, n_rows)
RiskSlimMIP.bounds_of_variables (self, bounds)
RiskSlimMIP.cut_terms (self, cut)
RiskSlimMIP.coef_and_loss (self, values)
RiskSlimMIP.solution_vector (self, coef, loss)
RiskSlimMIP.prefer_indicators (self)
RiskSlimMIP.cut_row (self, cut)
RiskSlimMIP.add_cuts (self, cuts, *, lazy=False)
RiskSlimMIP.add_ridge_rows (self, rows)
RiskSlimMIP.indicators property
RiskSlimMIP.max_cuts property
Solution (coefficients, intercept, certificate, feature_names, trace=<factory>, statistics=<factory>, settings=<factory>, pool=None, scale=1.0, is_interrupted=False)
Solution.coef property
Solution.points property
SolutionPool (coefficients, objectives, feature_names, complete, bound, scales=None, intercepts=None, distinct='scores', lower_bounds=None)
SolutionPool.points (self, rank)
SolutionPool.intercept (self, rank)
SolutionPool.scale (self, rank)
SolutionPool.explain (self)
SolutionPool.table (self, most=10)
Status {OPTIMAL='optimal', FEASIBLE='feasible', INFEASIBLE='infeasible', INTERRUPTED='interrupted'}
TrainingData (X, y, sample_weight=None, *, feature_names=None, outcome_name=None, positive_label=None, items=None)
TrainingData.from_rows (cls, rows, *, feature_names=None, outcome_name='outcome', classes=(0, 1), items=())
TrainingData.reweighted (self, sample_weight)
TrainingData.with_class_weight (self, class_weight)
TrainingData.column (self, j)
TrainingData.n_rows property
TrainingData.block property
TrainingData.has_each_row property
TrainingData.labels property
TrainingData.sample_weight property
TrainingData.integer_columns property
TrainingData.integer_index property
TrainingData.real_row_tiles property
TrainingData.real_index property
TrainingData.total_weight property
TrainingData.counted property
TrainingData.is_weighted property
TrainingData.class_weights property
TrainingData.n_counted property
TrainingData.prevalence property
TrainingData.class_weighting property
alternatives (problem, within=0.01, *, prices=None, n_sets=None, time_limit=60.0, start=None, n_threads=1, settings=None, progress=None, should_stop=None)
at_least (n, features, *, name=None)
at_most (n, features, *, name=None)
at_most_variables (m, groups=None, *, name=None)
branch_and_bound (problem, *, time_limit=60.0, gap_tolerance=0.0, node_limit=None, n_threads=1, random_state=0, start=None, n_solutions=None, within=None, distinct='scores', settings=None, progress=None, should_stop=None)
calibration_error (y_true, risk, sample_weight=None, scores=None, *, bins=None, pos_label=None)
chained_updates (bounds, l0_penalty, *, ridge=None)
cross_validate_risk_score (estimator, X, y, sample_weight=None, *, cv=5, groups=None, param_grid=None, tuning_metric='auc', inner_cv=5, bins=None, pos_label=None, n_jobs=1, random_state=0, progress=None, should_stop=None)
discrete_coordinate_descent (problem, coef, *, directions=None, line_search='golden_section', swaps=False, max_iterations=None, should_stop=None, stop=None)
either_or (a, b, *, name=None)
exactly (n, features, *, name=None)
false_negative_rate_at_most (rate, threshold=None, *, log_odds=None, name=None)
false_positive_rate_at_most (rate, threshold=None, *, log_odds=None, name=None)
fixed_points (features, n, *, name=None)
if_then (feature, then, *, name=None)
items_per_variable (n, *, name=None)
lattice_cpa (problem, *, time_limit=60.0, gap_tolerance=0.0, node_limit=None, n_threads=1, random_state=0, start=None, solver='cplex', settings=None, progress=None, should_stop=None)
minimum_points (features, n, *, name=None)
model_size (least=0, most=None, *, name=None)
model_size_path (problem, X=None, y=None, sample_weight=None, *, sizes=None, cv=None, groups=None, random_state=0, bins=None, n_jobs=1, progress=None, search_progress=None, should_stop=None, checkpoint=None, **engine_arguments)
monotone (features=None, sign='auto', *, name=None)
not_both (a, b, *, name=None)
operating_point_at_least (sensitivity=None, specificity=None, *, rows=None, name=None)
points_in (features, values, *, name=None)
rate_gap_at_most (gap, rate='false_positive', *, groups, threshold=None, log_odds=None, name=None)
read (X, y, sample_weight=None, *, items=None, positive_label=None, features=None, exclude=(), csv_format=None, feature_names=None, outcome_name=None, memory_limit=None, scratch=None, progress=None, random_state=0)
risk_at_least (p, where=None, *, profile=None, name=None)
risk_at_most (p, where=None, *, profile=None, name=None)
rule_margin (classifier, X, y, sample_weight=None, *, aims=None, cv=5, groups=None, random_state=0, n_jobs=1, progress=None, should_stop=None)
sampled (data, n, random_state=0)
sequential_rounding (problem, coef, *, cutoff=inf, should_stop=None, stop=None)
show_config (mode='stdout')
shrinkage_path (classifier, X=None, y=None, sample_weight=None, *, shrinkages=(0, 0.25, 0.5, 1, 2, 4, 8), sizes=None, cv=5, groups=None, random_state=0, bins=None, n_jobs=1, progress=None, search_progress=None, should_stop=None, checkpoint=None)
variable (name)
"""  # noqa: E501

# The public modules; pages of the reference are made from the same names.
MODULES = (
    "riskslim", "riskslim.backend", "riskslim.constraints.files", "riskslim.exceptions",
    "riskslim.exports", "riskslim.items", "riskslim.metrics", "riskslim.model_selection",
    "riskslim.near_optimal",
    "riskslim.paper", "riskslim.paper.baselines", "riskslim.paper.simulation", "riskslim.plots",
    "riskslim.report",
)  # fmt: skip
# An enumeration shows for itself; errors of a machine that lacks something, or of a search that was
# ended from outside, do not come on demand.
NO_EXAMPLE_NEEDED = {
    "Status", "CertificateError", "KernelsUnavailableError", "ProblemSizeError", "RiskSLIMError",
    "RowsLostError", "SearchInterruptedError", "SolverUnavailableError", "WorkMemoryError",
    "UnboundCertificateWarning",
}  # fmt: skip


def defined(value) -> dict[str, object]:
    """What a class and those of the package that it is made of define, each name once."""
    classes = [one for one in value.__mro__ if one.__module__.startswith("riskslim.")]
    return {name: raw for one in reversed(classes) for name, raw in vars(one).items()}


def members(name):
    """A public object and the methods of its class, by qualified name."""
    value = getattr(riskslim, name)
    yield name, value
    if inspect.isclass(value):
        for attribute, raw in defined(value).items():
            function = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
            if not attribute.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{attribute}", function


def properties(name):
    value = getattr(riskslim, name)
    if inspect.isclass(value):
        for attribute, raw in defined(value).items():
            if not attribute.startswith("_") and isinstance(raw, property):
                yield f"{name}.{attribute}", raw


def is_enum(value) -> bool:
    return inspect.isclass(value) and hasattr(value, "__members__")


def described(value) -> str:
    """Signature without annotations, or the members of an enumeration."""
    if is_enum(value):
        return f"{{{', '.join(f'{m.name}={m.value!r}' for m in value)}}}"
    signature = inspect.signature(value)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def current() -> list[str]:
    found = []
    for name in riskslim.__all__:
        found += [f"{path} {described(value)}" for path, value in members(name)]
        found += [f"{path} property" for path, _ in properties(name)]
    return found


def test_snapshot():
    found, expected = current(), SNAPSHOT.strip().splitlines()
    assert [line for line in found if line not in expected] == [], "new or changed"
    assert [line for line in expected if line not in found] == [], "gone or changed"


def test_names_are_sorted_and_unique():
    assert sorted(set(riskslim.__all__)) == riskslim.__all__


def test_every_name_comes_from_the_package():
    wrong = []
    for name in riskslim.__all__:
        value = getattr(riskslim, name)
        if value.__module__.split(".")[0] != "riskslim":
            wrong.append(f"{name} comes from {value.__module__}")
        if value.__name__ != name:
            wrong.append(f"{name} is called {value.__name__}")
        # A second look gives the same object, now without the detour.
        if vars(riskslim)[name] is not value:
            wrong.append(f"{name} is another object at the second look")
    assert not wrong, "\n".join(wrong)


def test_version():
    from importlib.metadata import PackageNotFoundError, version

    assert riskslim.__version__.count(".") == 2
    try:
        installed = version("riskslim")
    except PackageNotFoundError:
        pytest.skip("riskslim is used from its folder, not installed")
    assert installed == riskslim.__version__


def test_citation_and_changelog_name_the_version_and_the_licence():
    cited, project = (ROOT / "CITATION.cff").read_text(), (ROOT / "pyproject.toml").read_text()
    assert f"\nversion: {riskslim.__version__}\n" in cited
    first, *_ = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first == riskslim.__version__
    (licence,) = re.findall(r'^license = "(.*)"$', project, re.MULTILINE)
    assert f"\nlicense: {licence}\n" in cited
    assert riskslim.__version__ not in project


# ---------------------------------------------------------------------------------------------
# Docstrings
# ---------------------------------------------------------------------------------------------


def sections(docstring: str) -> dict[str, str]:
    """Sections of a numpydoc docstring; the summary is under the empty name."""
    lines = inspect.cleandoc(docstring).splitlines()
    found, title = {"": []}, ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following and set(following) == {"-"} and len(following) == len(line):
            title = line
            found[title] = []
        elif set(line) != {"-"}:
            found[title].append(line)
    return {title: "\n".join(body).strip() for title, body in found.items()}


def described_names(section: str) -> set[str]:
    """Names that a Parameters section describes ("a, b : int" and "a, b" are two of them)."""
    heads = [line.partition(":")[0] for line in section.splitlines() if line[:1].strip()]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def parameters(value) -> list[str]:
    return [
        name for name in inspect.signature(value).parameters if name != "self" and name != "cls"
    ]


def own_statements(function) -> list[ast.AST]:
    """Everything in a function's body apart from functions within it."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found, waiting = [], list(tree.body[0].body)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def faults_of_a_docstring(value) -> Iterator[str]:
    """What the docstring of a class or a function lacks."""
    if not value.__doc__:
        yield "has no docstring"
        return
    found = sections(value.__doc__)
    if not found[""].split("\n\n")[0].rstrip().endswith((".", ":")):
        yield "has a summary that is no sentence"
    missing = set(parameters(value)) - described_names(found.get("Parameters", ""))
    if missing:
        yield f"does not describe {sorted(missing)}"
    function = value.__init__ if inspect.isclass(value) else value
    if not inspect.isfunction(function) or _generated(function):
        return
    statements = own_statements(function)
    if any(isinstance(node, ast.Raise) for node in statements) and not found.get("Raises"):
        yield "raises, and does not say so"
    # A method without parameters may say it all in its summary: "Columns as lists."
    returns = any(isinstance(node, ast.Return) and node.value for node in statements)
    if value is function and parameters(value) and returns and not found.get("Returns"):
        yield "does not say what it returns"


def _generated(function) -> bool:
    return function.__code__.co_filename.startswith("<")  # a dataclass's __init__


def test_docstrings_have_their_sections():
    wrong = [
        f"{path} {fault}"
        for name in riskslim.__all__
        for path, value in members(name)
        if not is_enum(value)
        for fault in faults_of_a_docstring(value)
    ]
    assert not wrong, "\n".join(wrong)


def test_faults_of_docstrings_are_found():
    """Every one of them: a reader that misses some would pass the package."""

    def f(a, b=None):
        """Without a stop

        Parameters
        ----------
        a : int
            One.
        """
        if a:
            raise ValueError
        return b

    assert list(faults_of_a_docstring(f)) == [
        "has a summary that is no sentence", "does not describe ['b']",
        "raises, and does not say so", "does not say what it returns",
    ]  # fmt: skip
    assert list(faults_of_a_docstring(lambda: None)) == ["has no docstring"]


def test_properties_are_described():
    wrong = [
        path
        for name in riskslim.__all__
        for path, value in properties(name)
        if not sections(value.__doc__ or "")[""].rstrip(".")
    ]
    assert not wrong, wrong


def with_examples():
    """Public names, of classes and functions, by module."""
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            if name not in NO_EXAMPLE_NEEDED and callable(value_of(module, name)):
                yield module, name


def value_of(module: str, name: str):
    return getattr(importlib.import_module(module), name)


def test_public_names_have_examples():
    wrong = []
    for module, name in with_examples():
        example = sections(value_of(module, name).__doc__ or "").get("Examples", "")
        if ">>>" not in example or "+SKIP" in example:
            wrong.append(f"{module}.{name}")
    assert not wrong, wrong


def test_names_without_examples_exist():
    known = {name for module in MODULES for name in importlib.import_module(module).__all__}
    assert known >= NO_EXAMPLE_NEEDED


def test_every_public_module_has_its_pages():
    tree = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    (pages,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MODULES"
    )
    assert set(pages) == set(MODULES)


# Files and folders of the package, which are looked into where the tests run.
ROOMS = ["riskslim", *(room.name for room in pkgutil.iter_modules(riskslim.__path__, "riskslim."))]


def modules(room: str) -> Iterator[str]:
    """The modules of a room by name."""
    yield room
    if room != "riskslim":
        paths = getattr(importlib.import_module(room), "__path__", [])
        for module in pkgutil.walk_packages(paths, f"{room}."):
            if not module.name.endswith("__main__"):
                yield module.name


def examples(room: str) -> Iterator[doctest.DocTest]:
    """Docstrings with examples, each with its own copy of its module's names."""
    for module in map(importlib.import_module, modules(room)):
        for example in doctest.DocTestFinder().find(module, module.__name__):
            if example.examples:
                yield example


@pytest.mark.parametrize(
    "room",
    [
        pytest.param(room, marks=pytest.mark.slow) if room == "riskslim.paper" else room
        for room in ROOMS
        if not room.endswith("__main__")
    ],
)
def test_examples_run(room):
    failures = []
    for example in examples(room):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        with warnings.catch_warnings():  # filters that an example changes end with it
            runner.run(example, out=failures.append)
    assert not failures, "".join(failures)


def test_examples_are_found():
    found = [example.name for room in ROOMS for example in examples(room)]
    some = {"riskslim.data.training_data.TrainingData", "riskslim.bounds.chained_updates"}
    assert some <= set(found)
    assert len(set(found)) == len(found) > 250


if __name__ == "__main__":
    print(*current(), sep="\n")
