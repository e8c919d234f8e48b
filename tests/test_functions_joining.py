"""Arrays joined, repeated and moved, against eager NumPy (rules C1, S3, S6)."""

from __future__ import annotations

import pytest

from tests.forms import check_forms
from tests.params import slow_but

FORMS = {
    "concatenate": """
np.concatenate((a, a), axis=None)|np.concatenate((a, i), dtype=np.float32)|np.concatenate((v, [1.0, 2.0]))
np.concatenate([[x], v, [y]])|np.concatenate(([x, y], [n]))|np.concatenate((v, w), out=np.empty(12))
np.concatenate((v, w), dtype=int)|np.concatenate((v, w), dtype=int, casting='unsafe')|np.concatenate(sq)
np.concatenate(a)|np.concatenate([v]*3)|np.concatenate(())|np.concatenate((iv, f[0]))|np.concatenate((u8, u8), 1)
""",
    "stack": """
np.stack(sq)|np.stack([v, w, iv], 1)|np.stack((v, w), dtype=np.float32)|np.stack((v, [1,2,3,4,5,6]))|np.stack([x, y])
np.stack((v, w), axis=2)|np.stack((a, b), axis=-2)|np.stack((v, w), out=np.empty((2, 6)))
""",
    "hstack and its kin": """
np.hstack((a, b))|np.hstack([x, v])|np.hstack((v, w), dtype=np.float32)|np.hstack([[1,2],[3]])|np.vstack((v, w, v))
np.vstack([x, y])|np.vstack((a, a), dtype=np.float32)|np.dstack((v, w))|np.dstack((a, b))|np.dstack((sq, sq))
np.dstack([x, y])|np.column_stack((v, w, iv))|np.column_stack([[1,2],[3,4]])|np.vstack(sq)|np.hstack(sq)
np.vstack([v, [1]*6])
""",
    "append": """
np.append(v, [1, 2])|np.append(v, x)|np.append(a, b, axis=1)|np.append(a, [[1,2,3,4,5]], axis=0)|np.append([1,2],[x])
""",
    "repeat": """
np.repeat(v, 2, axis=0)|np.repeat(a, 3, axis=-1)|np.repeat(x, 3)|np.repeat(3, 4)|np.repeat([1, 2], 2)
np.repeat(a, n, axis=1)|np.repeat(v, -1)|np.repeat(a, 1)|np.repeat(a,2,axis=2)|np.repeat(v, [2])
""",
    "tile": """
np.tile(v, (2, 1))|np.tile(v, (2, 3))|np.tile(a, 2)|np.tile(a, (2, 1))|np.tile(a, (2, 2))|np.tile(a, (2, 1, 1))
np.tile(v, (n, 1))|np.tile(x, 3)|np.tile(x, (2, 2))|np.tile([1, 2], 2)|np.tile(v, 1)|np.tile(a, ())
np.tile(a.T, (1, 2))|np.tile(v, (0, 2))|np.tile(e, 3)|np.tile(v, [2, 1])|np.tile(v, -1)|np.tile(sq, (1, 2, 1))
np.tile(v[:, None], (1, n))|np.tile(iv, n)
""",
    "roll": """
np.roll(a, (1, 2), axis=(0, 1))|np.roll(a, 1, axis=(0, 1))|np.roll(a, (1, -1), (1, 0))|np.roll(a, (1, 1), axis=0)
np.roll(v, n)|np.roll(v, -n)|np.roll(v, 100)|np.roll(a, n, 0)|np.roll(sq, (1, 1, 1), (0, 1, 2))|np.roll(v, 1, axis=1)
np.roll(a, -1, -1)|np.roll(a, (1,2))|np.roll(v, [1])|np.roll(o, 1)|np.roll([1,2,3], 1)
""",
}


@pytest.mark.parametrize("group", slow_but(["tile", "roll"], FORMS))
def test_c1_forms(group: str) -> None:
    check_forms(FORMS[group])
