"""What a live agent holds beside its session: its timeline, its tools, and when it compacts by itself."""
