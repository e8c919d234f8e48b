"""From tensors to buffers: the rewrite asks an analysis which operands are in place, and emits the memref program."""

from tracebuf.bufferize.rewrite import bufferize

__all__ = ["bufferize"]
