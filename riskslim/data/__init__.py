"""Tables of any kind, checked and packed once."""
