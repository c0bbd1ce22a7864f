"""Transcripts in and out of a ledger: the format itself is pure, the files around it are not."""
