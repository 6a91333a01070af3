"""Features that were computed from a raw column: what is known of them.

Items come from ``items=`` of a classifier or of training data, or from ``score.with_variables``. Of
a data frame nothing is known but its names and numbers, whoever made it.
"""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Statement"]


class Statement(Protocol):
    """A statement of what a column is; :class:`riskslim.items.Item` is the one kind there is."""

    @property
    def name(self) -> str:
        """The column's name."""

    @property
    def variable(self) -> str:
        """The raw column that it is made of."""

    @property
    def kind(self) -> Any:
        """The kind of condition."""

    @property
    def value(self) -> Any:
        """Value that the variable is compared with."""

    @property
    def is_condition(self) -> bool:
        """Say whether it is computed from the variable, and is not the variable itself."""
