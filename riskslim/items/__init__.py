"""Items: conditions on raw columns, such as "age >= 60", and what makes them."""
