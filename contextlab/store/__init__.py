"""The only Django app with tables."""
