"""Follow every link within the built site: its file is there, and so is the place in it.

`python .ci/check_site.py FOLDER`; prints links that lead nowhere, and ends with 1. Every public
name has a page, and the search has an index.
"""

from __future__ import annotations

import importlib
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links and named places of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag leads to, and what it is called."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def dead_links(site: Path) -> list[str]:
    """Find links within a site that lead nowhere."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts  # templates of the theme
    }
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            where = f"{path.relative_to(site)}: {link}"
            if not target.is_file():
                found.append(f"{where} leads to no file")
            elif parts.fragment and target in pages:
                is_there = unquote(parts.fragment) in pages[target].places
                found += [] if is_there else [f"{where} leads to no place"]
    return found


def names_without_page(site: Path, modules: list[str]) -> list[str]:
    """Find public classes and functions that have no page in the reference."""
    found = []
    for module in modules:
        public = importlib.import_module(module)
        for name in public.__all__:
            page = site / "api" / "names" / f"{module}.{name}.html"
            if callable(getattr(public, name)) and not page.is_file():
                found.append(f"{module}.{name} has no page")
    return found


def main(folder: str) -> int:
    """Check a site."""
    site = Path(folder).resolve()
    modules = sorted(path.stem for path in (site / "api").glob("riskslim*.html"))
    found = [*dead_links(site), *names_without_page(site, modules)]
    if not modules:
        found.append("no pages of modules")
    if not (site / "searchindex.js").is_file():
        found.append("no index for the search")
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
