"""Tests of memory work."""
