"""Sizes: tokens and whose figure they are, what is known of models, the window, when a compaction pays."""
