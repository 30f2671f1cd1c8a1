"""The facts of items, one file for each family of kinds."""
