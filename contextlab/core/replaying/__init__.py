"""How replay works inside; use contextlab.core.replayer and contextlab.core.recorded."""
