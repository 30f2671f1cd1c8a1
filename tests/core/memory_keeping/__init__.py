"""Tests of memories that outlive a session."""
