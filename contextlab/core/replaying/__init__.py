"""How replay works inside; use contextlab.core.replay and contextlab.core.recorded."""
