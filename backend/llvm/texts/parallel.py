"""Running a nest by several threads, in LLVM's words: `share` asks Numba's threading layer to run `part` in each of
them, which takes pieces of a loop until none is left.

A nest is `i64 nest(context, budget, lo, hi, what it works on, where failures go)`. The words of a share, on the
caller's stack: of each segment of the pieces the next one that nobody has taken, in cache lines of their own; then the
nest's address, how many iterations there are and are one piece, the context, the caller's thread, whether the nest is
to end, the least nanoseconds that a whole piece took, what failed, and how many segments there are; from `GIVEN` on
what the nest works on.

`share` is for one caller at a time, of the process's main thread. Where the machine is busy, threads come late, and the
caller waits for them: what that loses is a debt, and until others' work has paid for it nests run whole. Nothing here
is called with the GIL held but `ask` and `poll`, which take it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

STATE, MAIN, PARALLEL_FOR, COUNT, TAKEN, DEBT, RUNS, LEAST, OWED, REPAY, LINE = range(11)
"""Words of what the process has (backend/runtime/threads.py): the state, the main thread, addresses of the layer's two
functions, whether a nest is shared now, the debt, how many were shared, the bytes from which a nest is, how many were
not because of a debt, by how many times as much work a loss is made up for, and how many iterations a piece has at
least where each is short: their elements fill lines of the cache, to which no other thread writes."""
ASLEEP, READY, OFF = 0, 1, 2
"""States: Numba's threads are not started, or are, or never will be."""
SEGMENTS, WORDS_OF_LINE = 16, 8
"""At most so many segments of a nest have pieces of their own, each with the number of its next one in a line of the
cache; a thread takes those of its own segment first, so that it goes on in memory (and makes its pages)."""
NEST, ITERATIONS, PIECE, CONTEXT, CALLER, STOP, BEST, FAILED_AT, FAILED, LOCK, COUNTERS, GIVEN = range(
    SEGMENTS * WORDS_OF_LINE, SEGMENTS * WORDS_OF_LINE + 12
)
"""Words of a share; of failed checks that of the first piece counts: its first iteration, the check's number (or 0),
whether a thread is at these two and the check's values, which stand behind what the nest works on."""
LEFT, WHOLE = -(2**63), -(2**63) + 1
"""What `share` gives where a handler raised, and where the nest is to run whole."""
CHECK = -(2**63) + 16
"""Added to the number of a check that failed, this is what a loop gives, and then `share`."""
MOST_CHECKS = 2**32
RAISED, ENDED = 1, 2
"""Bits of `STOP`: a handler raised, a check failed."""
PIECE_BYTES, FEWEST, MOST = 2**22, 8, 32
"""The bytes that one piece touches, and how many pieces of a nest there are for each thread."""
MOST_LOSS = 20
"""The largest loss that is counted, in times of the nest run by one thread."""
ENDLESS = 2**62
IN_TURN = 2**30 + 1
"""The limit of pieces that are to be begun in order."""
MOST_PARTS = 240
"""Pieces of a nest that folds, each of which has a place on the caller's stack for what it comes to."""

_AT = "getelementptr i64, ptr"


def share_text(grow: int, clock: int) -> tuple[list[tuple[str, str]], str, dict[str, str]]:
    """`i64 share(context, budget left, the share, part, work in bytes, grain, limit)`: its parameters, body, and what
    it declares. There are at most `limit` pieces (if it is negative, as many for each thread), which are multiples of
    the grain, or if that is negative, powers of two of them. `grow`: the context's slot by which Python is asked to
    start the threads (with -1)."""
    parameters = [
        ("ptr", "%context"), ("i64", "%left"), ("ptr", "%data"), ("ptr", "%part"), ("i64", "%work"), ("i64", "%grain"),
        ("i64", "%limit"),
    ]  # fmt: skip

    def word(n: int) -> str:
        return f"getelementptr (i64, ptr @tracebuf_threads, i64 {n})"

    body = f"""{{
entry:
  %now = alloca [2 x i64], align 8
  %args = alloca ptr, align 8
  %dims = alloca i64, align 8
  %steps = alloca i64, align 8
  %me = call i64 @PyThread_get_thread_ident()
  %main = load i64, ptr {word(MAIN)}
  %here = icmp eq i64 %me, %main
  br i1 %here, label %state, label %whole
state:
  %state0 = load atomic i64, ptr {word(STATE)} monotonic, align 8
  %asleep = icmp eq i64 %state0, {ASLEEP}
  br i1 %asleep, label %wake, label %awake
wake:
  %woken = call i64 @tracebuf_ask(ptr %context, i64 {grow}, i64 -1, i64 0)
  %refused = icmp eq i64 %woken, -1
  br i1 %refused, label %left_here, label %awake
awake:
  %state1 = load atomic i64, ptr {word(STATE)} monotonic, align 8
  %ready = icmp eq i64 %state1, {READY}
  br i1 %ready, label %pay, label %whole
pay:
  %debt = load i64, ptr {word(DEBT)}
  %owes = icmp sgt i64 %debt, 0
  br i1 %owes, label %owing, label %count
owing:
  %paid = sub i64 %debt, %work
  store i64 %paid, ptr {word(DEBT)}
  %owed_0 = load i64, ptr {word(OWED)}
  %owed_1 = add i64 %owed_0, 1
  store i64 %owed_1, ptr {word(OWED)}
  br label %whole
count:
  %ask_count = load ptr, ptr {word(COUNT)}
  %threads = call i32 %ask_count()
  %several = icmp sgt i32 %threads, 1
  br i1 %several, label %pieces, label %whole
pieces:
  %t = sext i32 %threads to i64
  %n_at = {_AT} %data, i64 {ITERATIONS}
  %n = load i64, ptr %n_at
  %by_bytes = sdiv i64 %work, {PIECE_BYTES}
  %fewest = mul i64 %t, {FEWEST}
  %most = mul i64 %t, {MOST}
  %p0 = call i64 @llvm.smax.i64(i64 %by_bytes, i64 %fewest)
  %p_most = call i64 @llvm.smin.i64(i64 %p0, i64 %most)
  %for_each = mul i64 %limit, %t
  %limited = icmp sgt i64 %limit, 0
  %of_each = sub i64 0, %for_each
  %limit_all = select i1 %limited, i64 %limit, i64 %of_each
  %p1 = call i64 @llvm.smin.i64(i64 %p_most, i64 %limit_all)
  %per = sdiv i64 %work, %n
  %thin = icmp slt i64 %per, 4096
  %line = load i64, ptr {word(LINE)}
  %grain0 = select i1 %thin, i64 %line, i64 1
  %grain_of = call i64 @llvm.abs.i64(i64 %grain, i1 false)
  %g = call i64 @llvm.smax.i64(i64 %grain_of, i64 %grain0)
  %n_up = add i64 %n, %p1
  %n_less = sub i64 %n_up, 1
  %piece0 = sdiv i64 %n_less, %p1
  %piece1 = add i64 %piece0, %g
  %piece2 = sub i64 %piece1, 1
  %piece3 = sdiv i64 %piece2, %g
  %less = sub i64 %piece3, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %bits = sub i64 64, %zeros
  %power = shl i64 1, %bits
  %powers = icmp slt i64 %grain, 0
  %grains = select i1 %powers, i64 %power, i64 %piece3
  %piece = mul i64 %grains, %g
  %one = icmp sge i64 %piece, %n
  br i1 %one, label %whole, label %take
take:
  %was = cmpxchg ptr {word(TAKEN)}, i64 0, i64 1 acq_rel monotonic
  %mine = extractvalue {{ i64, i1 }} %was, 1
  br i1 %mine, label %begin, label %whole
begin:
  %more = call i64 @tracebuf_poll(ptr %context)
  %raised = icmp slt i64 %more, 0
  br i1 %raised, label %give_up, label %run
run:
  %counters_at = {_AT} %data, i64 {COUNTERS}
  %ordered = icmp eq i64 %limit, {IN_TURN}
  %few = call i64 @llvm.smin.i64(i64 %t, i64 {SEGMENTS})
  %segments = select i1 %ordered, i64 1, i64 %few
  store i64 %segments, ptr %counters_at
  %count_up = add i64 %n, %piece
  %count_less = sub i64 %count_up, 1
  %in_all = sdiv i64 %count_less, %piece
  br label %segment
segment:
  %s = phi i64 [ 0, %run ], [ %s_next, %segment ]
  %s_part = mul i64 %s, %in_all
  %s_first = sdiv i64 %s_part, %segments
  %s_word = mul i64 %s, {WORDS_OF_LINE}
  %s_at = {_AT} %data, i64 %s_word
  store i64 %s_first, ptr %s_at
  %s_next = add i64 %s, 1
  %s_more = icmp slt i64 %s_next, %segments
  br i1 %s_more, label %segment, label %go
go:
  %piece_at = {_AT} %data, i64 {PIECE}
  store i64 %piece, ptr %piece_at
  %context_at = {_AT} %data, i64 {CONTEXT}
  store ptr %context, ptr %context_at
  %caller_at = {_AT} %data, i64 {CALLER}
  store i64 %me, ptr %caller_at
  %stop_at = {_AT} %data, i64 {STOP}
  store i64 0, ptr %stop_at
  %best_at = {_AT} %data, i64 {BEST}
  store i64 {2**62}, ptr %best_at
  %failed_at = {_AT} %data, i64 {FAILED_AT}
  store i64 {2**62}, ptr %failed_at
  %failed = {_AT} %data, i64 {FAILED}
  store i64 0, ptr %failed
  %lock = {_AT} %data, i64 {LOCK}
  store i64 0, ptr %lock
  store ptr null, ptr %args
  store i64 %t, ptr %dims
  store i64 1, ptr %steps
  %t0 = call i64 @tracebuf_now(ptr %now)
  %parallel_for = load ptr, ptr {word(PARALLEL_FOR)}
  call void %parallel_for(ptr %part, ptr %args, ptr %dims, ptr %steps, ptr %data, i64 0, i64 1, i32 %threads)
  %t1 = call i64 @tracebuf_now(ptr %now)
  %took = sub i64 %t1, %t0
  %runs0 = load i64, ptr {word(RUNS)}
  %runs1 = add i64 %runs0, 1
  store i64 %runs1, ptr {word(RUNS)}
  %best = load atomic i64, ptr %best_at acquire, align 8
  %whole_pieces = sdiv i64 %n, %piece
  %alone = mul i64 %best, %whole_pieces
  %known = icmp slt i64 %best, {2**40}
  br i1 %known, label %judge, label %done
judge:
  %seven = mul i64 %alone, 7
  %bound = sdiv i64 %seven, 10
  %loss = sub i64 %took, %bound
  %lost = icmp sgt i64 %loss, 0
  br i1 %lost, label %owe, label %done
owe:
  %worth = sitofp i64 %work to double
  %lossf = sitofp i64 %loss to double
  %alonef = sitofp i64 %alone to double
  %rate = fdiv double %worth, %alonef
  %owed0 = fmul double %rate, %lossf
  %most_owed = fmul double %worth, {MOST_LOSS}.0
  %owed1 = call double @llvm.minnum.f64(double %owed0, double %most_owed)
  %times = load i64, ptr {word(REPAY)}
  %timesf = sitofp i64 %times to double
  %owed2 = fmul double %owed1, %timesf
  %owed = fptosi double %owed2 to i64
  store i64 %owed, ptr {word(DEBT)}
  br label %done
done:
  store atomic i64 0, ptr {word(TAKEN)} release, align 8
  %stopped = load atomic i64, ptr %stop_at acquire, align 8
  %stops = icmp ne i64 %stopped, 0
  br i1 %stops, label %stopped_by, label %spent
stopped_by:
  %by_raise = and i64 %stopped, {RAISED}
  %raises = icmp ne i64 %by_raise, 0
  br i1 %raises, label %left_here, label %checked
checked:
  %number = load i64, ptr %failed
  %said = add i64 %number, {CHECK}
  ret i64 %said
spent:
  %rest = sub i64 %more, %work
  %rest0 = call i64 @llvm.smax.i64(i64 %rest, i64 -1)
  ret i64 %rest0
give_up:
  store atomic i64 0, ptr {word(TAKEN)} release, align 8
  br label %left_here
left_here:
  ret i64 {LEFT}
whole:
  ret i64 {WHOLE}
}}"""
    return parameters, body, {
        **_clock(clock), **declared(),
        "llvm.smax.i64": "declare i64 @llvm.smax.i64(i64, i64)",
        "llvm.smin.i64": "declare i64 @llvm.smin.i64(i64, i64)",
        "llvm.abs.i64": "declare i64 @llvm.abs.i64(i64, i1)",
        "llvm.ctlz.i64": "declare i64 @llvm.ctlz.i64(i64, i1)",
        "llvm.minnum.f64": "declare double @llvm.minnum.f64(double, double)",
        "tracebuf_ask": "declare i64 @tracebuf_ask(ptr, i64, i64, i64) nounwind",
    }  # fmt: skip


def part_text(
    given: Sequence[str], failures: int, clock: int, outs: Mapping[int, int] | None = None, values: int = 0
) -> tuple[list[tuple[str, str]], str, dict[str, str]]:
    """`i64 part(args, dimensions, steps, the share)`, as the threading layer calls it in each thread: its parameters,
    body, and what it declares.

    `given`: the types of what the nest works on; `failures`: of how many indices it says whether one was out of bounds;
    `outs`: of those that are pointers to a place for each piece, the bytes of one; `values`: as many words of a check
    that failed are passed on, which it puts where its last argument points.
    """
    parameters = [("ptr", "%args"), ("ptr", "%dims"), ("ptr", "%steps"), ("ptr", "%data")]
    lines, passed, at_piece = [], [], []
    for k, type_ in enumerate(given):
        lines += [f"  %a{k} = {_AT} %data, i64 {GIVEN + k}", f"  %g{k} = load {type_}, ptr %a{k}"]
        if outs and k in outs:
            at_piece += [
                f"  %moved{k} = mul i64 %number, {outs[k]}", f"  %out{k} = getelementptr i8, ptr %g{k}, i64 %moved{k}"
            ]  # fmt: skip
            passed.append(f"ptr %out{k}")
        else:
            passed.append(f"{type_} %g{k}")
    slots, after = [], []
    for k in range(failures):
        slots.append(f"  %f{k} = alloca i1, align 8")
        lines += [f"  %s{k} = {_AT} %data, i64 {GIVEN + len(given) + k}", f"  %to{k} = load ptr, ptr %s{k}"]
        passed.append(f"ptr %f{k}")
        after += [
            f"  %failed{k} = load i1, ptr %f{k}",
            f"  br i1 %failed{k}, label %note{k}, label %on{k}",
            f"note{k}:",
            f"  store i1 true, ptr %to{k}",
            f"  br label %on{k}",
            f"on{k}:",
        ]
    if values:
        slots.append(f"  %values = alloca [{values} x i64], align 8")
        passed.append("ptr %values")
        after += _check_text(values, GIVEN + len(given) + failures)
    body = f"""{{
entry:
  %now = alloca [2 x i64], align 8
{_lines(slots)}  %nest_at = {_AT} %data, i64 {NEST}
  %nest = load ptr, ptr %nest_at
  %n_at = {_AT} %data, i64 {ITERATIONS}
  %n = load i64, ptr %n_at
  %piece_at = {_AT} %data, i64 {PIECE}
  %piece = load i64, ptr %piece_at
  %context_at = {_AT} %data, i64 {CONTEXT}
  %context = load ptr, ptr %context_at
  %caller_at = {_AT} %data, i64 {CALLER}
  %caller = load i64, ptr %caller_at
  %stop_at = {_AT} %data, i64 {STOP}
  %best_at = {_AT} %data, i64 {BEST}
{_lines(lines)}  %me = call i64 @PyThread_get_thread_ident()
  %is_caller = icmp eq i64 %me, %caller
  %mine = load i64, ptr %args
  %counters_at = {_AT} %data, i64 {COUNTERS}
  %segments = load i64, ptr %counters_at
  %pieces_up = add i64 %n, %piece
  %pieces_less = sub i64 %pieces_up, 1
  %pieces = sdiv i64 %pieces_less, %piece
  br label %segment
segment:
  %k = phi i64 [ 0, %entry ], [ %k_next, %over ]
  %s_sum = add i64 %mine, %k
  %s = urem i64 %s_sum, %segments
  %s_word = mul i64 %s, {WORDS_OF_LINE}
  %s_at = {_AT} %data, i64 %s_word
  %s_after = add i64 %s, 1
  %s_part = mul i64 %s_after, %pieces
  %s_end = sdiv i64 %s_part, %segments
  br label %head
over:
  %k_next = add i64 %k, 1
  %k_more = icmp slt i64 %k_next, %segments
  br i1 %k_more, label %segment, label %end
head:
  %stopped = load atomic i64, ptr %stop_at monotonic, align 8
  %goes = icmp eq i64 %stopped, 0
  br i1 %goes, label %take, label %end
take:
  %number = atomicrmw add ptr %s_at, i64 1 monotonic
  %some = icmp slt i64 %number, %s_end
  br i1 %some, label %run, label %over
run:
  %lo = mul i64 %number, %piece
  %stop = add i64 %lo, %piece
  %full = icmp sle i64 %stop, %n
  %hi = select i1 %full, i64 %stop, i64 %n
{_lines(at_piece)}  %t0 = call i64 @tracebuf_now(ptr %now)
  %r = call i64 %nest({", ".join(["ptr %context", f"i64 {ENDLESS}", "i64 %lo", "i64 %hi", *passed])})
  %t1 = call i64 @tracebuf_now(ptr %now)
{_lines(after)}  br i1 %full, label %time, label %look
time:
  %took = sub i64 %t1, %t0
  %old = atomicrmw min ptr %best_at, i64 %took monotonic
  br label %look
look:
  br i1 %is_caller, label %poll, label %head
poll:
  %more = call i64 @tracebuf_poll(ptr %context)
  %raised = icmp slt i64 %more, 0
  br i1 %raised, label %leave, label %head
leave:
  %was = atomicrmw or ptr %stop_at, i64 {RAISED} acq_rel
  br label %head
end:
  ret i64 0
}}"""
    needs = {**_clock(clock), **declared()}
    if values:
        needs["llvm.memcpy.p0.p0.i64"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    return parameters, body, needs


def _check_text(values: int, at: int) -> list[str]:
    """Notes a check that failed, if it is of an earlier piece than another one, its values from a word on."""
    return f"""  %past = sub i64 %r, {CHECK}
  %fails = icmp ult i64 %past, {MOST_CHECKS}
  br i1 %fails, label %spin, label %right
spin:
  %lock = {_AT} %data, i64 {LOCK}
  %locked = atomicrmw xchg ptr %lock, i64 1 acquire
  %free = icmp eq i64 %locked, 0
  br i1 %free, label %compare, label %spin
compare:
  %failed_at = {_AT} %data, i64 {FAILED_AT}
  %others = load i64, ptr %failed_at
  %first = icmp slt i64 %lo, %others
  br i1 %first, label %say, label %unlock
say:
  store i64 %lo, ptr %failed_at
  %failed = {_AT} %data, i64 {FAILED}
  store i64 %past, ptr %failed
  %kept = {_AT} %data, i64 {at}
  call void @llvm.memcpy.p0.p0.i64(ptr %kept, ptr %values, i64 {8 * values}, i1 false)
  br label %unlock
unlock:
  store atomic i64 0, ptr %lock release, align 8
  %ends = atomicrmw or ptr %stop_at, i64 {ENDED} acq_rel
  br label %right
right:""".split("\n")


def _lines(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)


def declared() -> dict[str, str]:
    """What both declare."""
    return {
        "tracebuf_threads": "@tracebuf_threads = external global [16 x i64]",
        "tracebuf_poll": "declare i64 @tracebuf_poll(ptr) cold nounwind memory(inaccessiblemem: readwrite)",
        "PyThread_get_thread_ident": "declare i64 @PyThread_get_thread_ident() nounwind",
        "clock_gettime": "declare i32 @clock_gettime(i32, ptr) nounwind",
    }


def _clock(clock: int) -> dict[str, str]:
    return {
        "tracebuf_now": f"""define internal i64 @tracebuf_now(ptr %at) noinline nounwind {{
  %r = call i32 @clock_gettime(i32 {clock}, ptr %at)
  %s = load i64, ptr %at
  %p = getelementptr i64, ptr %at, i64 1
  %ns = load i64, ptr %p
  %whole = mul i64 %s, 1000000000
  %t = add i64 %whole, %ns
  ret i64 %t
}}"""
    }
