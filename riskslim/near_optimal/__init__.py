"""Other scores that are as good: by the items that they use, and what the choice depends on."""
