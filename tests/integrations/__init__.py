"""A package, so that its tests share one Ray cluster, which goes when the last is done."""
