"""A handler for the memory of NumPy's arrays (NEP 49) as LLVM text: it hands every request on to the handler below it,
so that speed, alignment and huge pages are what they were, and tells four functions of it.

A text that is put behind `memory_handler` defines these on its `%block`, whose fields follow the three of the handler:

    void @born(ptr %block, ptr %memory, i64 %size)             memory that was given; null where there was none
    void @gone(ptr %block, ptr %memory, i64 %size)             memory that is about to be released, or null
    i64 @moving(ptr %block, ptr %old)                          before memory gets another size
    void @moved(ptr %block, ptr %old, ptr %memory, i64 %size, i64 %moving)      after it; null where that failed

An array keeps the handler it was born with, so these may run when what made the handler is long gone.
Source: `PyDataMem_Handler` in `numpy/ndarraytypes.h`.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["memory_handler"]

_TEXT = """
%allocator = type { ptr, ptr, ptr, ptr, ptr }
%handler = type { [127 x i8], i8, %allocator }
%block = type { %handler, %allocator, ptr, FIELDS }

@capsule_name = constant [12 x i8] c"mem_handler\\00"

declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare void @PyMem_RawFree(ptr)
declare void @Py_DecRef(ptr)

define internal { ptr, ptr } @below(ptr %block, i32 %function) alwaysinline nounwind {
  %c = getelementptr %block, ptr %block, i32 0, i32 1
  %p = getelementptr ptr, ptr %c, i32 %function
  %ctx = load ptr, ptr %c
  %f = load ptr, ptr %p
  %r = insertvalue { ptr, ptr } poison, ptr %ctx, 0
  %s = insertvalue { ptr, ptr } %r, ptr %f, 1
  ret { ptr, ptr } %s
}
define ptr @handler_malloc(ptr %block, i64 %size) nounwind {
  %b = call { ptr, ptr } @below(ptr %block, i32 1)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  %memory = call ptr %f(ptr %ctx, i64 %size)
  call void @born(ptr %block, ptr %memory, i64 %size)
  ret ptr %memory
}
define ptr @handler_calloc(ptr %block, i64 %count, i64 %item) nounwind {
  %b = call { ptr, ptr } @below(ptr %block, i32 2)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  %memory = call ptr %f(ptr %ctx, i64 %count, i64 %item)
  %size = mul i64 %count, %item
  call void @born(ptr %block, ptr %memory, i64 %size)
  ret ptr %memory
}
define ptr @handler_realloc(ptr %block, ptr %old, i64 %size) nounwind {
  %moving = call i64 @moving(ptr %block, ptr %old)
  %b = call { ptr, ptr } @below(ptr %block, i32 3)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  %memory = call ptr %f(ptr %ctx, ptr %old, i64 %size)
  call void @moved(ptr %block, ptr %old, ptr %memory, i64 %size, i64 %moving)
  ret ptr %memory
}
define void @handler_free(ptr %block, ptr %memory, i64 %size) nounwind {
  call void @gone(ptr %block, ptr %memory, i64 %size)
  %b = call { ptr, ptr } @below(ptr %block, i32 4)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  call void %f(ptr %ctx, ptr %memory, i64 %size)
  ret void
}
define void @destroy(ptr %capsule) nounwind {
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr @capsule_name)
  %p = getelementptr %block, ptr %block, i32 0, i32 2
  %below = load ptr, ptr %p
  call void @PyMem_RawFree(ptr %block)
  call void @Py_DecRef(ptr %below)
  ret void
}
"""


def memory_handler(fields: Sequence[str]) -> str:
    """The functions `handler_malloc`, `handler_calloc`, `handler_realloc` and `handler_free`, `destroy` of the capsule
    that owns the block, and `%block`, in which the `fields` follow as numbers 3 and up."""
    return _TEXT.replace("FIELDS", ", ".join(fields))
