"""Passes that make the program do less: clean-up, fusion and destinations on tensors; folding and reuse on memrefs."""
