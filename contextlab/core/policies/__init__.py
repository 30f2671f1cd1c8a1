"""The compaction policies, one file each. A module here offers a class as POLICY; the registry finds it."""
