"""The Transformer, piece by piece: one concept a module, equal to the libraries to rounding."""
