"""The page of an error: what is refused by one reason has one page among docs/errors, found by the reason's text.

Each page is a program, what is said of it, and a program that works (the folder is a link to
tests/language/golden_errors, kept true by test_golden_errors.py; the site has them too). A refusal ends with the place
of its page, which a checkout has without a network; not every refusal has one.
"""

from __future__ import annotations

FOLDER = "docs/errors"
PAGES: dict[str, tuple[str, ...]] = {
    "address_of_an_array": (
        "`.data` of an array is not *", "`.ctypes` of an array is not *", "`.__array_interface__` of an array is not *"
    ),
    "arange_of_data": ("np.arange of an array",),
    "argmax_into_a_dtype": ("argmax into dtype *", "argmin into dtype *"),
    "array_written_out": ("an array of * numbers is written out",),
    "async_inside": ("an async function is not supported *",),
    "attribute_access_of_its_own": ("* has a `__getattr__` of its own", "* has a `__getattribute__` of its own"),
    "attribute_set_by_its_own_method": ("* has a `__setattr__` of its own",),
    "attribute_that_is_no_argument": ("`*.*` is of type *",),
    "axis_of_data": ("the axis depends on computed values",),
    "bad_code_in_a_branch": ("this raises * when it is reached: *",),
    "base_of_an_array": ("`.base` of an array is not *",),
    "broadcast_of_unknown_size": ("whether an axis is repeated is only known at run time",),
    "byte_swapped_argument": ("argument `*` has dtype * (byte-swapped); *",),
    "bytes_of_an_array": ("`.*` of an array is not supported yet",),
    "class": ("a class with such decorators *", "a class with keywords *",),
    "class_with_a_metaclass": ("* has a metaclass of its own (*)",),
    "comprehension_of_unknown_length": ("the length of this is only known at run time",),
    "comprehension_over_data": ("which items there are depends on data",),
    "comprehension_too_long": ("this has * items to unroll",),
    "conversion_of_a_list": ("np.* of a list or tuple",),
    "decorated_inner_function": ("functools.lru_cache with typed=*",),
    "del": ("`del` of anything but *",),
    "diag_of_data": ("np.diag by a number that is only known at run time",),
    "dict_of_other_keys_in_a_branch": ("which keys a dict has depends on the path taken",),
    "dict_that_grows_in_a_loop": ("the key of a dict depends on computed values",),
    "donate": ("`*` is donated to no use: *",),
    "dot_into_a_number_of_axes": ("an `out` of more axes than the product",),
    "dot_of_a_number": ("np.dot of a number and a stack of matrices",),
    "draw_into_an_array": ("`out` of random",),
    "errstate_that_raises": ('np.errstate with "raise": *',),
    "file": (
        "a call of open cannot be traced", "a call of input cannot be traced", "a call of numpy.load cannot be traced",
        "a call of numpy.loadtxt cannot be traced", "a call of numpy.save cannot be traced",
        "a call of numpy.savetxt cannot be traced",
    ),
    "finally_that_jumps": ("a jump out of `finally`",),
    "flat_operand": ("`.flat` other than *",),
    "flat_store": ("a store to a.flat by an index that is no array of ints",),
    "for_over_an_object": ("iterating over a * is not supported", "iterating over an * is not supported"),
    "format_of_values": ("a format that depends on values",),
    "generator": ("generators and coroutines cannot be traced",),
    "global": ("`global` of a name that *",),
    "in_traced_numbers": ("`in` needs values known at trace time",),
    "index_of_64_bits": ("an index of more than 64 bits",),
    "instance_check_of_its_own": (
        "* has an `__instancecheck__` of its own", "* has a `__subclasscheck__` of its own",
        "* has a `__subclasshook__` of its own",
    ),
    "integer_too_large": ("the integer * does not fit 64 bits",),
    "item_that_is_no_number": ("a * among an array's items",),
    "iterator_used_twice": ("this iterator may have given out its items before",),
    "keepdims_of_data": ("keepdims is not known at trace time",),
    "key_of_a_dict_of_data": ("a key of a dict that is only known at run time",),
    "list_grown_in_a_loop": ("a list changes its length in a loop that is traced once",),
    "list_of_another_length_in_a_branch": ("the length of a list depends on the path taken",),
    "list_put_into_itself": ("a list, dict or object is put into itself",),
    "list_that_grows_in_a_loop_over_it": ("a list grows in a loop over it",),
    "longdouble": ("* has dtype float128; *", "* has dtype complex256; *"),
    "longlong": ("a number is returned, in a program that has arrays of *",),
    "match": ("`match` is not supported *",),
    "mean_in_a_dtype": ("the mean in dtype *",),
    "mutable_from_outside": ("`*` is a mutable * from outside",),
    "nonlocal": ("`nonlocal` of a name that *",),
    "number_of_two_origins": ("this number is Python's or NumPy's, depending on the path; *",),
    "one_list_or_another_changed": ("a list is changed that is one or another, depending on the path",),
    "option_of_a_function": ("np.* with *= is not supported",),
    "random": ("a call of random.* cannot be traced",),
    "other_library": ("a call of * cannot be traced: *",),
    "numpy_random": ("a call of numpy.random.* cannot be traced",),
    "pow_with_a_modulus": ("pow() with a modulus",),
    "product_of_stacks": ("a product of stacks of which one may be repeated, *",),
    "raise_from": ("`raise` without an exception, or with `from`",),
    "raise_of_a_class_with_a_constructor": ("* has a constructor of its own",),
    "raise_with_keywords": ("`raise` of anything but an exception with a message",),
    "ravel_of_repeats": ('order="K" of a broadcast array',),
    "recursion": ("the recursion of `*`, whose depth only the run time knows, *",),
    "return_of_an_object": ("a * cannot be returned", "an * cannot be returned"),
    "set": ("a frozenset of what only the run time knows", "a set of what only the run time knows"),
    "shape_in_a_branch": ("the shape of an array from outside this branch or loop is changed in place",),
    "shape_of_an_argument": ("an argument's shape is changed in place",),
    "shape_that_is_an_array": ("the number of axes depends on computed values",),
    "squeeze_of_unknown_size": ("the number of dimensions is only known at run time",),
    "store_a_list": ("a list of these items cannot be stored",),
    "store_a_string": ("a * cannot be stored into an array",),
    "subclass_argument": ("argument `*` is a *, a subclass of ndarray *",),
    "sum_of_narrow_floats": ("sum() of float16", "sum() of float32"),
    "sum_of_rows": ("sum() of an array of more axes",),
    "text_that_is_looked_at": ("text with numbers that only the run time knows is looked at",),
    "tolist": ("`.tolist` of an array of *",),
    "try": ("`try` around what may raise at run time *",),
    "tuple_index_of_data": ("the index of a tuple is only known at run time",),
    "unread_for": ("* of a traced value (this function is traced by running it, *",),
    "unread_if": ("only the run time knows whether this holds (this function is traced by running it, *",),
    "unread_try": ("`try` or `with` in a function whose source cannot be read",),
    "view_or_copy": ("whether this is a view or a copy is only known at run time",),
    "where_that_is_a_list": ("a list as where=",),
    "where_without_out": ("`where=` without `out=` leaves elements undefined",),
    "with": ("`with` is not supported *",),
    "yield_in_a_try": ("a `yield` whose value is used, *",),
}  # fmt: skip
"""By page: the reasons that it is about; `*` stands for any text. The first that fits counts, so a page that is about
more stands behind those that are about less."""


def page_of(reason: str) -> str:
    """The place of a reason's page, from the top of the repository; "" where there is none."""
    found = (name for name, templates in PAGES.items() if any(fits(reason, t) for t in templates))
    name = next(found, None)
    return "" if name is None else f"{FOLDER}/{name}.txt"


def fits(text: str, template: str) -> bool:
    """Whether a text is of a template, in which `*` stands for any."""
    first, *rest = template.split("*")
    if not rest:
        return text == first
    last, at = rest.pop(), len(first)
    if not text.startswith(first):
        return False
    for part in rest:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(text) - len(last) >= at and text.endswith(last)
