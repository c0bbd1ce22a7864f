"""The nouns and the generic parts of the fold. Pure: no I/O, no clock, no dialect."""
