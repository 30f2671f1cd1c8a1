"""The audit: what a compaction lost, what came of it, and when the model last saw it. See docs/audit.md."""
