"""Whether a text says a fact: one file for each family of kinds."""
