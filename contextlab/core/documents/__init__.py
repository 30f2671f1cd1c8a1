"""Policy documents as people write them: options and their errors, JSON Schema, text, presets."""
