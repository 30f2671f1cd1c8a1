"""ContextLab shows what an agent's model saw at every step, and what it did not."""

__version__ = "0.1.0"
