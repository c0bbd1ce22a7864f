"""The append-only store: the only package that knows SQLite."""
