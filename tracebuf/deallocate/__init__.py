"""Frees by ownership: insert (ownership), simplify, lower. The rules are in these; facts holds what they share."""
