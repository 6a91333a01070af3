"""The house: which folder may import which, how large its rooms get, and its one list of names."""

from __future__ import annotations

import ast
import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import riskslim
from paths import DOCS, PACKAGE, ROOT

# The one written order of folders and top-level modules, from the ground up: whoever stands on a
# floor imports from lower floors alone. docs/architecture.md shows it.
FLOORS = (
    ("_version", "_wording", "_checks", "_writing", "_threads", "exceptions", "verbose"),
    ("_kernels",),
    ("bounds", "operating_point", "scale"),
    ("config", "data", "solution"),
    ("rows",),
    ("datasets", "items", "metrics"),
    ("coefficients", "reader", "score"),
    ("constraints", "exports", "loss", "plots"),
    ("problem",),
    ("heuristics", "report"),
    ("backend", "engines", "risk_score"),
    ("near_optimal",),
    ("classifier", "paper"),
    ("model_selection",),
    ("riskslim",),  # the public names
    ("cli",),
    ("__main__",),
)
# The same within the folder that has folders of its own.
FLOORS_OF_ENGINES = (
    ("runs", "settings", "workers"),
    ("certify", "parallel"),
    ("scales",),
    ("branch_and_bound",),
    ("operating_points",),
    ("lattice_cpa",),
    ("choice",),
    ("fingerprint", "kept"),
    ("checkpoint",),
)


# Folders whose modules have names that are not given twice.
NAMED_ONCE = ("data", "rows", "loss", "heuristics", "engines")

# Lines of code: docstrings, comments and blank lines do not count.
MAX_LINES = 700  # of a module
MAX_CLASS_LINES = 400
MAX_FUNCTION_LINES = 80
MAX_POSITIONAL = 12  # parameters that may be given without their name
# Interfaces with several implementations. One class is named by an import for annotations.
PROTOCOLS = {"InterruptibleRun", "Metric", "TreeSearch"}
# Kernels are one function per loop over the rows, and pass everything in arguments.
WITHOUT_LIMITS = "_kernels"
# What is larger, and why.
LARGER = {
    "cli.fit.fit": "one parameter for each option of the command",
    "heuristics.supports.SupportSearch": "to be divided by kinds of rows",
}


def top(module: str) -> str:
    """Folder or top-level module in which a module lies; the package itself for its names."""
    return module.split(".")[0] or "riskslim"


class Import(NamedTuple):
    importer: str
    imported: str
    line: int

    def __str__(self) -> str:
        return f"riskslim.{self.importer} imports riskslim.{self.imported} in line {self.line}"


def name_of(path: Path) -> str:
    """Name of a module in the package: "" for the package itself, "data.tables" for a module."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def files() -> dict[str, Path]:
    """All modules of the package that are written in Python."""
    return {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def sources() -> dict[str, ast.Module]:
    """The same, parsed."""
    return {
        module: ast.parse(path.read_text(encoding="utf-8"), str(path))
        for module, path in files().items()
    }


@functools.cache
def compiled() -> set[str]:
    return {name_of(path) for path in PACKAGE.rglob("*.pyi")}


def _is_import_by_name(node: ast.AST) -> bool:
    """True if it is ``import_module("...")``, by whatever path the function is reached."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called = getattr(node.func, "id", getattr(node.func, "attr", ""))
    is_text = isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    return called in ("import_module", "__import__") and is_text


def run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that type checkers alone read: an annotation is no arrow."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for node in child.orelse:
                yield from run(node)
        else:
            yield from run(child)


def imports_of(module: str, tree: ast.Module) -> Iterator[Import]:
    """All imports of the package's modules that are run: those in functions, too."""
    known = {*sources(), *compiled()}
    for node in run(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} has a relative import in line {node.lineno}"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif _is_import_by_name(node):
            names = [node.args[0].value]
        else:
            continue
        for name in names:
            root, *parts = name.split(".")
            if root != "riskslim":
                continue
            imported = ".".join(parts)
            # `from module import name` names what the module defines, or a module of a folder.
            yield Import(
                module,
                imported if imported in known else imported.rpartition(".")[0],
                node.lineno,
            )


@functools.cache
def imports() -> tuple[Import, ...]:
    return tuple(found for module, tree in sources().items() for found in imports_of(module, tree))


def floors(order: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    return {room: floor for floor, rooms in enumerate(order) for room in rooms}


def circles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """Groups of nodes that all reach each other: what is reached from a node and reaches it."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            for node in graph.get(waiting.pop(), set()) - found:
                found.add(node)
                waiting.append(node)
        return found

    reach = {node: reached(node) for node in graph}
    groups = {
        frozenset(other for other in reach[node] if node in reach.get(other, ()))
        for node in graph
        if node in reach[node]
    }
    return sorted(groups, key=sorted)


# ---- the order of the house ------------------------------------------------------------------


def test_every_room_has_a_floor():
    assert {top(module) for module in sources()} == set(floors(FLOORS))
    of_engines = {module.split(".")[1] for module in sources() if module.startswith("engines.")}
    assert of_engines == set(floors(FLOORS_OF_ENGINES))


def test_modules_below_the_score_have_names_of_their_own():
    """But for the door to a kernel, which has the kernel's name."""
    homes: dict[str, list[str]] = {}
    for module in sources():
        folder, _, name = module.rpartition(".")
        if top(module) in NAMED_ONCE and folder:
            homes.setdefault(name, []).append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_the_page_shows_the_order():
    shown = [", ".join(rooms) for rooms in FLOORS]
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    block = "\n".join(f"    {line}" for line in shown)
    assert f"\n\n{block}\n\n" in page, f"the page needs\n{block}"


def test_the_page_names_what_there_is():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+(?:/|\.pyx?))`", page.split("## Decisions")[0]))
    folders = {f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert folders | modules <= named
    there = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py*")}
    there |= {path.name for path in PACKAGE.rglob("*.py")} | {"tests/"}
    there |= {f"{path.relative_to(PACKAGE)}/" for path in PACKAGE.rglob("*") if path.is_dir()}
    there |= {f"{path.name}/" for path in PACKAGE.rglob("*") if path.is_dir()}
    there |= {f"{path.name}/" for path in ROOT.iterdir() if path.is_dir()}
    assert named - there <= {"riskslim/__init__.py", "tests/test_house.py"}


def test_imports_are_found():
    """Every way to write one, in this package: a reader that misses some would pass all tests."""
    found = {(one.importer, one.imported) for one in imports()}
    assert ("heuristics.descent", "_kernels.heuristics") in found  # a compiled module
    assert ("config", "_kernels") in found  # a folder
    assert ("score.link", "score.table") in found
    assert ("score.link", "risk_score") not in found  # for types
    assert ("cli.fit", "") in found  # the public names
    assert len(found) > 400
    text = "def f():\n    import riskslim.data.tables\n    from riskslim.data import files, nothing"
    names = [one.imported for one in imports_of("x", ast.parse(text))]
    assert names == ["data.tables", "data.files", "data"]
    text = 'import_module("riskslim.rows.reading")\nimportlib.import_module("riskslim.data.files")'
    names = [one.imported for one in imports_of("x", ast.parse(text))]
    assert names == ["rows.reading", "data.files"]
    text = """if TYPE_CHECKING:
    import riskslim.data.files
else:
    import riskslim.data.tables
def f():
    if TYPE_CHECKING:
        import riskslim.data.files
    if not TYPE_CHECKING:
        import riskslim.data.roles
    class C:
        import riskslim.data.weights"""
    names = [one.imported for one in imports_of("x", ast.parse(text))]
    assert names == ["data.tables", "data.roles", "data.weights"]


def test_imports_point_down():
    floor = floors(FLOORS)
    wrong = [
        one
        for one in imports()
        if top(one.importer) != top(one.imported)
        and floor[top(one.imported)] >= floor[top(one.importer)]
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_imports_among_engines_point_down():
    floor = floors(FLOORS_OF_ENGINES)
    wrong = []
    for one in imports():
        if one.importer.startswith("engines.") and one.imported.startswith("engines."):
            importer, imported = (name.split(".")[1] for name in (one.importer, one.imported))
            if importer != imported and floor[imported] >= floor[importer]:
                wrong.append(str(one))
    assert not wrong, "\n".join(wrong)


def test_no_module_reaches_itself():
    graph = {module: set() for module in sources()}
    for one in imports():
        # The names of a folder are those of its modules: who takes a name from it takes it there.
        if one.imported and one.importer:
            graph[one.importer].add(one.imported)
    assert not circles(graph), [sorted(circle) for circle in circles(graph)]


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"f"}}
    assert circles(graph) == [frozenset("abc"), frozenset("f")]


# ---- sizes ------------------------------------------------------------------------------------


def code_lines(module: str) -> list[int]:
    """Numbers of the lines of a module that hold code, in order."""
    left_out: set[int] = set()
    for node in ast.walk(sources()[module]):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            left_out.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = files()[module].read_text(encoding="utf-8").splitlines()
    return [
        k
        for k, line in enumerate(lines, 1)
        if k not in left_out and line.strip() and not line.lstrip().startswith("#")
    ]


def too_large() -> dict[str, str]:
    """Find what is larger than the limits, by name of a module, class or function."""
    found: dict[str, str] = {}
    for module, tree in sources().items():
        if top(module) == WITHOUT_LIMITS:
            continue
        code = code_lines(module)
        if len(code) > MAX_LINES:
            found[module] = f"{len(code)} lines of code, at most {MAX_LINES}"
        for name, node in definitions(tree, module):
            lines = bisect_right(code, node.end_lineno) - bisect_left(code, node.lineno)
            most = MAX_CLASS_LINES if isinstance(node, ast.ClassDef) else MAX_FUNCTION_LINES
            if lines > most:
                found[name] = f"{lines} lines of code, at most {most}"
            if isinstance(node, ast.FunctionDef):
                count = len(node.args.posonlyargs) + len(node.args.args)
                if count > MAX_POSITIONAL:
                    found[name] = f"{count} positional parameters, at most {MAX_POSITIONAL}"
    return found


def definitions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue  # nothing is defined within one
        name = f"{prefix}.{node.name}" if hasattr(node, "name") else prefix
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield name, node
        yield from definitions(node, name)


def test_rooms_are_of_a_size_to_read():
    found = too_large()
    unforeseen = [f"{name}: {what}" for name, what in found.items() if name not in LARGER]
    assert not unforeseen, "\n".join(unforeseen)
    assert set(found) == set(LARGER), "it is small enough now: take it from LARGER"


def test_protocols_have_several_implementations():
    found = {
        node.name
        for tree in sources().values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases)
    }
    assert found == PROTOCOLS


# ---- docstrings --------------------------------------------------------------------------------

# A docstring says what something is or does: it begins with a noun or a verb.
OPENINGS = re.compile(r"(What|Whether|If|How|Why|When|Where|Which|Who)\b")
OF_A_FUNCTION = re.compile(r'^\s*(?:def|class|cdef|cpdef)\b[^"]*?:\s*r?"""(.*)', re.MULTILINE)


def openings() -> Iterator[tuple[str, str]]:
    """First lines of all docstrings of the package, with the places where they stand."""
    for module, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module}.{getattr(node, 'name', '')}", ast.get_docstring(node) or ""
    for path in PACKAGE.rglob("*.pyx"):
        for line in OF_A_FUNCTION.findall(path.read_text(encoding="utf-8")):
            yield path.name, line


def test_docstrings_begin_with_a_noun_or_a_verb():
    found = list(openings())
    assert sum(place.endswith(".pyx") for place, _ in found) > 100
    assert len(found) > 2000
    wrong = [f"{place}: {text.splitlines()[0]}" for place, text in found if OPENINGS.match(text)]
    assert not wrong, "\n".join(wrong)


# ---- the one list of public names --------------------------------------------------------------


def for_type_checkers() -> dict[str, str]:
    """Names that `riskslim` imports where type checkers alone read, with their modules."""
    (block,) = (
        node
        for node in sources()[""].body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name, f"{alias.name} is not exported to type checkers"
            found[alias.name] = node.module.removeprefix("riskslim.")
    return found


def test_type_checkers_see_the_public_names():
    assert for_type_checkers() == riskslim._HOMES
    assert riskslim.__all__ == list(riskslim._HOMES) == sorted(riskslim._HOMES)


def test_public_names_are_defined_where_the_list_says():
    wrong = []
    for name, home in riskslim._HOMES.items():
        module = import_module(f"riskslim.{home}")
        if name not in module.__all__:
            wrong.append(f"riskslim.{home} does not export {name}")
        if getattr(riskslim, name) is not getattr(module, name):
            wrong.append(f"riskslim.{name} is not that of riskslim.{home}")
        body = sources()[home].body
        if name not in {getattr(node, "name", "") for node in body if is_definition(node)}:
            wrong.append(f"riskslim.{home} takes {name} from somewhere else")
    assert not wrong, "\n".join(wrong)


def is_definition(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef | ast.FunctionDef)


def test_modules_have_the_names_that_they_export():
    wrong = []
    for name in files().keys() - {"", "__main__"}:
        module = import_module(f"riskslim.{name}")
        names = getattr(module, "__all__", [])
        wrong += [f"riskslim.{name} lacks {one}" for one in names if not hasattr(module, one)]
        if len(names) > len(set(names)):
            wrong.append(f"riskslim.{name} exports a name twice")
    assert not wrong, "\n".join(wrong)
