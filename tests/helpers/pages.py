"""Pages of HTML as tests read and use them."""

from __future__ import annotations

import functools

import html5lib


@functools.lru_cache(maxsize=8)
def parsed(page: str):
    """The document, which tests leave as it is; errors of syntax raise."""
    root = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)
    for element in root.iter():
        if isinstance(element.tag, str):  # comments have none
            element.tag = element.tag.rpartition("}")[2]
    return root


def text_of(element) -> str:
    return " ".join("".join(element.itertext()).split())


def table(root, caption: str) -> list[list[tuple[str, float | None]]]:
    """Cells of a table as text and value, row by row, its head first."""
    (found,) = (one for one in root.iter("table") if text_of(one.find("caption")) == caption)
    return [
        [
            (text_of(cell), float(cell.get("data-value")) if cell.get("data-value") else None)
            for cell in row
        ]
        for row in found.iter("tr")
    ]


def click(browser, selector: str) -> None:
    """Click on an element, away from the result at the lower edge of the window."""
    element = browser.find_element("css selector", selector)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()
