"""Items: conditions on raw columns, such as "age >= 60", and what makes them."""

from riskslim.items.item import Item, read_items
from riskslim.items.variables import RawVariable

__all__ = ["Item", "RawVariable", "read_items"]
