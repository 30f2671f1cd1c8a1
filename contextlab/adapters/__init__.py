"""One file per foreign package or foreign thing; nothing here imports Django."""
