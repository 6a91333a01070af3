"""Places to break in Python: operators, constants, calls, indices and returns, by its own parser.

Left out are annotations, blocks for type checkers, decorators, what is in f-strings or in calls
that raise, warn or log, lines that read a clock, and conditions on the platform: faults there show
in words alone, or
nowhere on the machine at hand.
"""

from __future__ import annotations

import ast
import bisect
import io
import itertools
import tokenize
from collections.abc import Iterable

from benchmarks.mutations.edits import (
    CLOCKS,
    COMPARISONS,
    EXTREMES,
    ROUNDINGS,
    WORK_ALONE,
    Candidate,
    Edit,
    line_at,
)

__all__ = ["candidates"]

_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-"}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_WORDS = ("warn", "debug", "info", "warning", "error", "exception")
_PLATFORMS = ("sys.platform", "sys.version_info", "os.name", "__name__")


def candidates(text: str) -> list[Candidate]:
    """Find all places of a module.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Candidate
    """
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    return [one for one in finder.found if not CLOCKS.search(line_at(text, one.edits[0].start))]


class _Finder(ast.NodeVisitor):
    """Visits what can be broken, and keeps the candidates."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Candidate] = []
        lines = text.splitlines(keepends=True)
        self._lines = lines
        self._starts = [0, *itertools.accumulate(len(line) for line in lines)]
        self._tokens = [
            (self._starts[token.start[0] - 1] + token.start[1], token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type in (tokenize.OP, tokenize.NAME)
        ]

    def _at(self, line: int, column: int) -> int:
        """Place in the text of a line and a number of bytes in it."""
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)

    def _span(self, node: ast.expr) -> tuple[int, int]:
        end = self._at(node.end_lineno or 0, node.end_col_offset or 0)
        return self._at(node.lineno, node.col_offset), end

    def _after(self, start: int, string: str) -> int:
        """Place of an operator between its operands."""
        at = bisect.bisect_left(self._tokens, (start, ""))
        while self._tokens[at][1] != string:
            at += 1
        return self._tokens[at][0]

    def _add(self, kind: str, operator: str, *edits: Edit) -> None:
        self.found.append(Candidate(kind, operator, edits))

    def _replace(self, kind: str, at: int, old: str, new: str) -> None:
        self._add(kind, f"{old} to {new}", Edit(at, at + len(old), new))

    # ---- what is not looked at ---------------------------------------------------------------

    def _visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if not WORK_ALONE.search(node.name):
            self._visit_all([*node.args.defaults, *node.args.kw_defaults, *node.body])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all([node.value])

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            self._visit_all(node.orelse)
        else:
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """An error's text."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words."""

    # ---- operators -----------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        if any(name in ast.unparse(node) for name in _PLATFORMS):
            return
        for left, op in zip([node.left, *node.comparators], node.ops, strict=False):
            if string := _COMPARED.get(type(op)):
                at = self._after(self._span(left)[1], string)
                self._replace("comparison", at, string, COMPARISONS[string])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left in node.values[:-1]:
            at = self._after(self._span(left)[1], old)
            self._replace("logic", at, old, new)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        left_end = self._span(node.left)[1]
        if not _is_sequence(node.left) and not _is_sequence(node.right):
            if string := _SIGNS.get(type(node.op)):
                at = self._after(left_end, string)
                self._replace("sign", at, string, "-" if string == "+" else "+")
                self._ones(node.left)
                self._ones(node.right)
            elif isinstance(node.op, ast.FloorDiv):
                at = self._after(left_end, "//")
                start, end = self._span(node)
                left, right = self.text[start:at].strip(), self.text[at + 2 : end].strip()
                self._add(
                    "rounding", "// rounded up", Edit(start, end, f"-(-({left}) // ({right}))")
                )
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if (string := _SIGNS.get(type(node.op))) and not _is_sequence(node.value):
            old, new = f"{string}=", "-=" if string == "+" else "+="
            at = self._after(self._span(node.target)[1], old)
            self._replace("sign", at, old, new)
            self._ones(node.value)
        self.generic_visit(node)

    def _ones(self, node: ast.expr) -> None:
        if _is_number(node) and node.value == 1:
            start, end = self._span(node)
            for new in "20":
                self._replace("one", start, self.text[start:end], new)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            at = self._span(node)[0]
            self._add("sign", "- dropped", Edit(at, at + 1, ""))
        self.generic_visit(node)

    # ---- calls, indices, returns -----------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in _WORDS:
            return
        at = self._span(node.func)[1] - len(name)
        if name in ROUNDINGS:
            self._replace("rounding", at, name, ROUNDINGS[name])
        elif name in EXTREMES:
            self._replace("extreme", at, name, EXTREMES[name])
        elif name == "nextafter" and len(node.args) == 2:
            start, end = self._span(node.args[1])
            self._add("rounding", "nextafter turned", Edit(start, start, "-("), Edit(end, end, ")"))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        for one in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            index = one.lower if isinstance(one, ast.Slice) else one
            if index is not None and self._shift(index, is_slice=isinstance(one, ast.Slice)):
                continue
            self.visit(one)

    def _shift(self, index: ast.expr, *, is_slice: bool) -> bool:
        """Note an index that may be one too large; true if it is a number."""
        start, end = self._span(index)
        sign, number = 1, index
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
            sign, number = -1, index.operand
        if _is_number(number) and isinstance(number.value, int):
            new = str(sign * (number.value + 1))
            self._add("index", f"{self.text[start:end]} to {new}", Edit(start, end, new))
            return True
        is_name = isinstance(index, ast.Name) and (is_slice or len(index.id) == 1)
        is_sum = isinstance(index, ast.BinOp) and type(index.op) in _SIGNS
        if is_name or is_sum:
            self._add("index", "+ 1", Edit(end, end, " + 1"))
        return False

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if value is None:
            return
        start, end = self._span(value)
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            self._replace("return", start, str(value.value), str(not value.value))
        elif isinstance(value, ast.Compare | ast.BoolOp) or (
            isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
        ):
            self._add("return", "negated", Edit(start, start, "not ("), Edit(end, end, ")"))
        elif isinstance(value, ast.BinOp) and _is_arithmetic(value):
            self._add("return", "sign turned", Edit(start, start, "-("), Edit(end, end, ")"))
        self.visit(value)


def _is_number(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    )


def _is_sequence(node: ast.expr) -> bool:
    """True for words, lists and tuples, whose sum is a longer one."""
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


def _is_arithmetic(node: ast.BinOp) -> bool:
    return isinstance(node.op, _ARITHMETIC) and not _is_sequence(node)
