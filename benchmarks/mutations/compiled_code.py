"""Places to break in Cython and C: operators, constants, calls, indices and returns, by tokens.

Only bodies of functions are looked at, and of declarations in them only what a variable begins
with: neither types, nor the sizes of arrays, nor how pointers part work memory. Lines that
allocate, copy or fill memory, measure time or fetch data early are left out as well. What a loop
of C ends with is made one smaller, never larger: beyond the end of an array it is left to chance
whether a test notices.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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

_SPACES = {
    True: r"[ \t\\]+|^[ \t]*\#(?:\\\n|[^\n])*|/\*.*?\*/|//[^\n]*",
    False: r'[ \t]+|\\\n|\#[^\n]*|[rbuf]?"{3}.*?"{3}',
}
_OPERATORS = r"<<=|>>=|->|\+\+|--|<=|>=|==|!=|&&|\|\||[-+*/]=|<<|>>|.|\n"
_TOKENS = {
    is_c: re.compile(
        rf"(?P<space>{spaces})"
        r"|(?P<name>[A-Za-z_]\w*)"
        r"|(?P<number>0[xX][\da-fA-F]+\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\w*)"
        r"""|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
        rf"|(?P<operator>{'' if is_c else '//|'}{_OPERATORS})",
        re.DOTALL | re.MULTILINE,
    )
    for is_c, spaces in _SPACES.items()
}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_NO_OPERAND = {*keyword.kwlist, "case", "do", "goto"} - {"True", "False", "None"}
_LEFT_OUT = re.compile(
    r"malloc|calloc|realloc|\bfree\(|sizeof|memcpy|memset|np\.(?:empty|zeros|ones)"
    rf"|prefetch|\braise\b|{CLOCKS.pattern}"
)
_NOT_CODE = ("cpdef", "ctypedef", "DEF", "def", "class", "import", "from", "cimport", "@")


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int

    @property
    def is_operand(self) -> bool:
        """True if an operator after it has two operands."""
        if self.kind == "name":
            return self.text not in _NO_OPERAND
        return self.kind in ("number", "text") or self.text in (")", "]")


class _Code(NamedTuple):
    """Tokens of an expression or a statement."""

    tokens: list[_Token]
    is_condition: bool = False  # what a loop of C goes on for
    is_pointer: bool = False  # what is returned


def candidates(text: str, *, is_c: bool) -> list[Candidate]:
    """Find all places of a module of Cython or of a header of C.

    Parameters
    ----------
    text : str
    is_c : bool

    Returns
    -------
    list of Candidate
    """
    tokens = [
        _Token(found.lastgroup or "", found[0], found.start(), found.end())
        for found in _TOKENS[is_c].finditer(text)
        if found.lastgroup != "space"
    ]
    pieces = _c_pieces if is_c else _cython_pieces
    return [
        one
        for code in pieces(tokens)
        for one in _Piece(code, is_c=is_c).candidates()
        if not _LEFT_OUT.search(line_at(text, one.edits[0].start))
    ]


# ---- what is code ------------------------------------------------------------------------------


def _c_pieces(tokens: Sequence[_Token]) -> Iterator[_Code]:
    """Statements, and parts of headers of loops, of all functions of a header."""
    tokens = [token for token in tokens if token.text != "\n"]
    at = 0
    while at < len(tokens):
        if tokens[at].text == "(" and tokens[at - 1].kind == "name":
            begin, name = at - 1, tokens[at - 1].text
            at = _closing(tokens, at)
            if at + 1 < len(tokens) and tokens[at + 1].text == "{":
                end = _closing(tokens, at + 1)
                if not WORK_ALONE.search(name):
                    is_pointer = tokens[begin - 1].text == "*"
                    for code in _statements(tokens[at + 2 : end]):
                        yield code._replace(is_pointer=is_pointer)
                at = end
        elif tokens[at].text == "{":  # fields, or entries of a table
            at = _closing(tokens, at)
        at += 1


def _closing(tokens: Sequence[_Token], at: int) -> int:
    """Place of the bracket that closes the one here."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].text in _OPENING) - (tokens[place].text in _CLOSING)
        if depth == 0:
            return place
    return len(tokens) - 1


def _statements(tokens: Sequence[_Token]) -> Iterator[_Code]:
    begin, at = 0, 0
    while at < len(tokens):
        if tokens[at].text == "for" and tokens[at + 1].text == "(":
            end = _closing(tokens, at + 1)
            head = tokens[at + 2 : end]
            first, second = (i for i, token in enumerate(head) if token.text == ";")
            yield from _declared(head[:first])
            yield _Code(list(head[first + 1 : second]), is_condition=True)
            yield _Code(list(head[second + 1 :]))
            begin = at = end + 1
        elif tokens[at].text in ("if", "while") and tokens[at + 1].text == "(":
            end = _closing(tokens, at + 1)
            yield _Code(list(tokens[at + 2 : end]))
            begin = at = end + 1
        elif tokens[at].text in (";", "{", "}", "else", "do"):
            yield from _declared(tokens[begin:at])
            begin = at = at + 1
        elif tokens[at].text in ("(", "["):
            at = _closing(tokens, at) + 1
        else:
            at += 1
    yield from _declared(tokens[begin:])


def _declared(tokens: Sequence[_Token]) -> Iterator[_Code]:
    """A statement; of a declaration what its variables begin with, unless they are pointers."""
    words = [token for token in tokens if token.text != "*"]
    is_declaration = (
        len(words) > 1
        and words[0].kind == words[1].kind == "name"
        and words[0].text not in _NO_OPERAND
    )
    if is_declaration:
        yield from _initial(tokens)
    else:
        yield _Code(list(tokens))


def _initial(tokens: Sequence[_Token]) -> Iterator[_Code]:
    begin, at = -1, 0
    while at <= len(tokens):
        text = tokens[at].text if at < len(tokens) else ","
        if text == "," and begin >= 0:
            yield _Code(list(tokens[begin:at]))
            begin = -1
        elif text == "*" and begin < 0:
            return
        elif text == "=" and begin < 0:
            begin = at + 1
        at = _closing(tokens, at) + 1 if text in _OPENING else at + 1


def _cython_pieces(tokens: Sequence[_Token]) -> Iterator[_Code]:
    """Logical lines of all functions of a module."""
    left_out = -1  # columns of a block that is not code: below declarations, or by its name
    is_pointer = False
    for indent, line in _logical_lines(tokens):
        if left_out >= 0 and indent > left_out:
            continue
        left_out = -1
        is_function = line[0].text in ("def", "cdef", "cpdef") and line[-1].text == ":"
        if is_function:
            at = next((at for at, token in enumerate(line) if token.text == "("), 0)
            is_pointer = "*" in {token.text for token in line[:at]}
            if at == 0 or WORK_ALONE.search(line[at - 1].text):
                left_out = indent
        elif indent == 0 or line[0].text in _NOT_CODE:
            left_out = indent
        elif line[0].text == "cdef":
            yield from _initial(line)
        else:
            yield _Code(line, is_pointer=is_pointer)


def _logical_lines(tokens: Sequence[_Token]) -> Iterator[tuple[int, list[_Token]]]:
    line: list[_Token] = []
    depth, begin = 0, 0
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.text != "\n":
            line.append(token)
        elif depth == 0:
            if line:
                yield line[0].start - begin, line
            line, begin = [], token.end


# ---- what can be broken ------------------------------------------------------------------------


class _Piece:
    """An expression or a statement, and what can be broken in it."""

    def __init__(self, code: _Code, *, is_c: bool) -> None:
        self._is_c, self._is_condition, self._is_pointer = is_c, *code[1:]
        self._tokens = code.tokens if is_c else _without_casts(code.tokens)
        self._found: list[Candidate] = []

    def candidates(self) -> list[Candidate]:
        for at, token in enumerate(self._tokens):
            self._operators(at, token)
            self._ones(at, token)
            self._calls(at, token)
            self._indices(at, token)
            self._returns(at, token)
        return self._found

    def _add(self, kind: str, operator: str, *edits: Edit) -> None:
        self._found.append(Candidate(kind, operator, edits))

    def _replace(self, kind: str, token: _Token, new: str) -> None:
        self._add(kind, f"{token.text} to {new}", Edit(token.start, token.end, new))

    def _near(self, at: int) -> _Token:
        return self._tokens[at] if 0 <= at < len(self._tokens) else _Token("", "", 0, 0)

    def _is_binary(self, at: int) -> bool:
        return self._near(at).text in ("+", "-") and self._near(at - 1).is_operand

    def _operators(self, at: int, token: _Token) -> None:
        text, is_binary = token.text, self._near(at - 1).is_operand
        if text in COMPARISONS and is_binary:
            if not self._is_condition or text not in ("<", ">"):
                self._replace("comparison", token, COMPARISONS[text])
            elif text == "<":
                self._replace("comparison", token, "< -1 +")
        elif (text in ("&&", "||")) if self._is_c else (text in ("and", "or")):
            pairs = {"&&": "||", "||": "&&", "and": "or", "or": "and"}
            self._replace("logic", token, pairs[text])
        elif text in ("+", "-", "+=", "-=") and is_binary:
            self._replace("sign", token, text.replace("+", "?").replace("-", "+").replace("?", "-"))
        elif text == "-":
            self._add("sign", "- dropped", Edit(token.start, token.end, ""))
        elif text == "//" and not self._is_c:
            self._rounded_up(at)

    def _rounded_up(self, at: int) -> None:
        """Note a quotient of two single operands."""
        left, right = self._near(at - 1), self._near(at + 1)
        around = self._near(at - 2).text, self._near(at + 2).text
        if {left.kind, right.kind} <= {"name", "number"} and not set(around) & {".", "[", "("}:
            new = f"(({left.text} + {right.text} - 1) // {right.text})"
            self._add("rounding", "// rounded up", Edit(left.start, right.end, new))

    def _ones(self, at: int, token: _Token) -> None:
        if token.kind == "number" and token.text in ("1", "1.0"):
            before = self._is_binary(at - 1) or self._near(at - 1).text in ("+=", "-=")
            if before or self._is_binary(at + 1):
                for new in "20":
                    self._replace("one", token, token.text.replace("1", new, 1))

    def _calls(self, at: int, token: _Token) -> None:
        if token.kind == "name" and self._near(at + 1).text == "(":
            if token.text in ROUNDINGS:
                self._replace("rounding", token, ROUNDINGS[token.text])
            elif token.text in EXTREMES:
                self._replace("extreme", token, EXTREMES[token.text])

    def _indices(self, at: int, token: _Token) -> None:
        if token.text != "[" or not self._near(at - 1).is_operand:
            return
        end = _closing(self._tokens, at)
        inside = "".join(one.text for one in self._tokens[at + 1 : end])
        # What is at [0] is what a pointer points to as often as the first of several.
        if inside != "0" and ":" not in inside and "?" not in inside and "<" not in inside:
            close = self._tokens[end].start
            self._add("index", "+ 1", Edit(close, close, " + 1"))

    def _returns(self, at: int, token: _Token) -> None:
        if token.text != "return" or self._is_pointer or at + 1 >= len(self._tokens):
            return
        value = self._tokens[at + 1 :]
        start, end = value[0].start, value[-1].end
        outside = _outside(value)
        if len(value) == 1:
            swapped = {"0": "1", "1": "0", "True": "False", "False": "True"}
            if value[0].text in swapped:
                self._replace("return", value[0], swapped[value[0].text])
        elif "?" in outside or "if" in outside:
            return
        elif outside & {*COMPARISONS, "&&", "||", "and", "or", "!", "not"}:
            word = "!(" if self._is_c else "not ("
            self._add("return", "negated", Edit(start, start, word), Edit(end, end, ")"))
        elif outside & {"+", "-", "*", "/"} and value[0].text not in ("&", "*", "("):
            self._add("return", "sign turned", Edit(start, start, "-("), Edit(end, end, ")"))


def _without_casts(tokens: list[_Token]) -> list[_Token]:
    """Tokens of Cython without casts, such as ``<double>``."""
    kept: list[_Token] = []
    at = 0
    while at < len(tokens):
        is_cast = tokens[at].text == "<" and not (kept and kept[-1].is_operand)
        if is_cast:
            while tokens[at].text != ">":
                at += 1
        else:
            kept.append(tokens[at])
        at += 1
    return kept


def _outside(tokens: Sequence[_Token]) -> set[str]:
    """Texts of the tokens that are in no brackets."""
    found, at = set(), 0
    while at < len(tokens):
        found.add(tokens[at].text)
        at = _closing(tokens, at) + 1 if tokens[at].text in _OPENING else at + 1
    return found
