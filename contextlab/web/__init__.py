"""Pages and panels."""
