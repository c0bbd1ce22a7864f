"""Everything that is learnt by folding a log again. Pure: it is handed entries, and never sees a store."""
