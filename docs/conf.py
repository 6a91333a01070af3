"""The site: `sphinx-build -W docs site`, with what `pip install ".[docs]"` brings.

The pages are the Markdown files beside this one. The reference is written from the public names of
the package, the gallery from the scripts in examples/; both are made anew by each build. Nothing is
fetched, neither by the build nor by the pages: formulas are MathML, the search is a script.
"""

from __future__ import annotations

import inspect
import re
import warnings
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.nodes import get_node_source

import riskslim

HERE = Path(__file__).parent

project = "riskslim"
author = "The riskslim developers"
project_copyright = author
version = release = riskslim.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["executed/**/*.ipynb", "executed/**/*.py", "executed/**/*.zip"]
templates_path = ["templates"]
root_doc = "index"

# Links to headings, as on pages of a repository.
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # the order of examples is an object

# Names in docstrings have to exist. Types in their sections are words, which need not be names.
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc's sections have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"  # the column at the right is narrow

html_theme = "pydata_sphinx_theme"
html_title = f"riskslim {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "start": []}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["executed"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"seizure\.py$",  # it takes a minute, and has a page of its own
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}

# The public modules in the order of the reference, with their titles.
MODULES = {
    "riskslim": "Fits, scores, constraints, engines",
    "riskslim.items": "Items",
    "riskslim.metrics": "Metrics",
    "riskslim.plots": "Diagrams",
    "riskslim.model_selection": "Model selection",
    "riskslim.near_optimal": "Alternatives",
    "riskslim.report": "Report",
    "riskslim.exports": "Exports",
    "riskslim.backend": "Backend for other packages",
    "riskslim.constraints.files": "Files of constraints",
    "riskslim.paper": "The paper's algorithm",
    "riskslim.paper.baselines": "Baselines",
    "riskslim.paper.simulation": "Simulated data",
    "riskslim.exceptions": "Errors and warnings",
}
# Classes that users get from these, and do not make themselves.
RETURNED = (
    "score.sheet.ScoreSheet",
    "score.scorecard.Scorecard",
    "score.table.RiskRow",
    "score.band.VariableBands",
    "score.band.Band",
    "score.explanation.Explanation",
    "score.explanation.Contribution",
    "score.reason_codes.Reason",
    "score.boolean_rule.BooleanRule",
    "score.cutoff_ranges.CutoffRange",
    "score.recalibration.Recalibration",
    "score.requirements.Requirement",
    "score.labels.Label",
    "score.layout.SheetLayout",
    "solution.Trace",
    "solution.SolveStatistics",
    "scale.ScaleSet",
    "metrics.performance.Performance",
    "near_optimal.alternatives.AlternativesLine",
    "constraints.base.Constraint",
    "constraints.base.Variable",
    "heuristics.descent.HeuristicResult",
    "bounds.ObjectiveBounds",
    "engines.lattice_cpa.cutting_planes.CPAResult",
    "data.class_weights.ClassWeighting",
    "data.feature_ranges.FeatureRange",
)

# Pages that programs write begin with a section.
TITLES = {
    "comparison/report": "Results of the comparison",
    "comparison/choices": "Elastic nets of the comparison",
    "experiments/report": "Results of the experiments",
}


def kind_of(module: ModuleType, name: str) -> str:
    """Section of the reference that a public name belongs to."""
    value = getattr(module, name)
    if inspect.isclass(value):
        return "Classes"
    return "Functions" if callable(value) else "Constants"


def page_of(name: str, title: str) -> str:
    """The page of a module: its docstring, and a table of its names that leads to their pages."""
    module = import_module(name)
    lines = [title, "=" * len(title), "", f".. automodule:: {name}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {name}", ""]
    for kind in ("Classes", "Functions", "Constants"):
        names = [one for one in sorted(module.__all__) if kind_of(module, one) == kind]
        if not names:
            continue
        lines += [kind, "-" * len(kind), ""]
        if kind == "Constants":  # which have comments in place of docstrings, and no page
            lines += [f".. autodata:: {one}\n   :no-value:\n" for one in names]
            continue
        lines += [".. autosummary::", "   :toctree: names", "   :nosignatures:", ""]
        lines += [f"   {one}" for one in names] + [""]
    return "\n".join(lines)


def write_reference() -> None:
    """Write the pages of the modules, and the one that lists them."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    returned = "What methods return"
    lines = [returned, "=" * len(returned), "", ".. autosummary::", "   :toctree: names", ""]
    lines += [f"   riskslim.{name}" for name in RETURNED]
    (folder / "returned.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, title in MODULES.items():
        (folder / f"{name}.rst").write_text(page_of(name, title), encoding="utf-8")
    head = "Python reference\n================\n\nAll public names, by module.\n"
    contents = "".join(f"   {name}\n" for name in (*MODULES, "returned"))
    toctree = f"\n.. toctree::\n   :maxdepth: 2\n\n{contents}"
    (folder / "index.rst").write_text(head + toctree, encoding="utf-8")


def add_title(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a page that has none its title."""
    if docname in TITLES:
        source[0] = f"# {TITLES[docname]}\n\n{source[0]}"


def link_pages(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Turn the names of pages in docstrings, as ``docs/constraints.md``, into links."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"(?<![\w/`])docs/(\w+)\.md", r":doc:`/\1`", line)


def is_inherited(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> Any:
    """Leave out the methods that scikit-learn adds to estimators: its pages explain them."""
    module = getattr(value, "__module__", None) or ""
    return True if module.startswith("sklearn.") else None


def exists(name: str) -> bool:
    """Say if a dotted name leads to something that can be imported."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            reduce(getattr, parts[length:], import_module(".".join(parts[:length])))
        except (ImportError, AttributeError):
            continue
        return True
    return False


def without_page(
    app: Sphinx, env: Any, node: pending_xref, content: nodes.TextElement
) -> nodes.TextElement | None:
    """Leave a name as text that has no page here, if it exists where the docstring is from."""
    target = node.get("reftarget", "")
    home = re.search(r"docstring of ([\w.]+)", get_node_source(node) or "")
    parts = home[1].split(".") if home else []
    names = [".".join([*parts[:length], target]) for length in range(len(parts) + 1)]
    return content if any(map(exists, names)) else None  # None is a warning


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    self.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_displaymath(self: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    self.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Write what is generated, before pages are read; formulas are written by docutils."""
    warnings.filterwarnings("ignore", message=".*FigureCanvasAgg.*")
    write_reference()
    app.connect("source-read", add_title)
    app.connect("autodoc-skip-member", is_inherited)
    app.connect("autodoc-process-docstring", link_pages)
    app.connect("missing-reference", without_page)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))


html_math_renderer = "mathml"
