"""How a summary comes about: where memory is cut, what a model is asked and told, and what is made of its answer."""
