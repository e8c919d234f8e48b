"""The examples on small sizes: each checks its results against eager NumPy; what they print is looked at here."""

from __future__ import annotations

import importlib
import importlib.util
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tracebuf

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name: str) -> ModuleType:
    """An example as a module (its directory is no package)."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


@pytest.mark.slow
def test_wave(capsys: pytest.CaptureFixture[str]) -> None:
    wave = load("wave")
    wave.main(["--size", "40", "--steps", "30", "--measured-steps", "7"])
    printed = capsys.readouterr().out
    assert "no allocations, no copies" in printed
    assert "scf.for" in printed and "linalg.generic" in printed and "not observable" in printed
    measured = tracebuf.measure(wave.wave, *wave.drop(60), 0.25, 7, repeat=1)
    assert measured.native.allocations == measured.native.copies == measured.native.peak_bytes == 0
    assert measured.eager.peak_bytes > 60 * 60 * 8
    u, v = wave.drop(50)
    before = wave.energy(u, v, 0.25)
    assert wave.wave(u, v, 0.25, 200) == pytest.approx(before, rel=0.1)
    assert len(wave.wave.specializations()) == 1, "one compilation serves all sizes"


@pytest.mark.slow
def test_image_filter(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("pywt")
    image_filter = load("image_filter")
    out = tmp_path / "photo.png"
    image_filter.main(["--size", "48", "--radius", "2", "--out", str(out)])
    assert "48 x 48 pixels" in capsys.readouterr().out
    png = out.read_bytes()
    assert struct.unpack(">II", png[16:24]) == (96, 48)
    assert len(zlib.decompress(png[41:-16])) == 48 * 97
    photo = image_filter.photograph(48)
    kept = photo.copy()
    result = image_filter.enhance(photo, 2)
    np.testing.assert_array_equal(photo, kept)
    np.testing.assert_allclose(result, image_filter.enhance.__wrapped__(photo, 2), rtol=1e-12)
    measured = tracebuf.measure(image_filter.enhance, photo, 2, repeat=1)
    assert measured.native.copies == 0
    assert measured.native.peak_bytes < measured.eager.peak_bytes


@pytest.mark.slow
def test_cholesky(capsys: pytest.CaptureFixture[str]) -> None:
    cholesky = load("cholesky")
    cholesky.main(["--size", "30", "--block", "8"])
    printed = capsys.readouterr().out
    assert "factor: no allocations, no copies" in printed and "factor_blocks: no allocations, no copies" in printed
    for n, block in ((1, 4), (5, 2), (12, 4), (13, 13), (13, 40)):
        matrix = cholesky.positive_definite(n)
        expected = np.linalg.cholesky(matrix)
        for f, args in ((cholesky.cholesky, ()), (cholesky.cholesky_blocks, (block,))):
            ours = matrix.copy()
            f(ours, *args)
            np.testing.assert_allclose(np.triu(ours).T, expected, rtol=1e-9, atol=1e-12)
    measured = tracebuf.measure(cholesky.cholesky_blocks, cholesky.positive_definite(40), 8, repeat=1)
    assert measured.native.allocations <= measured.eager.allocations
    assert measured.native.peak_bytes <= measured.eager.peak_bytes


def test_readme(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """README's Python blocks run, in order, on smaller arrays."""
    text = (EXAMPLES.parent / "README.md").read_text()
    blocks = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    program = "\n".join(blocks).replace("2000", "40").replace("500", "10").replace("1_000_000", "1000")
    (tmp_path / "readme_blocks.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("readme_blocks")
    printed = capsys.readouterr().out
    for expected in (
        "eager/native",
        "step: no allocations, no copies",
        "smooth: 2 allocations, no copies",
        "func.func",
    ):
        assert expected in printed
    story = text[text.index("```\nadvance: 1 allocation") + 4 :].partition("```")[0]
    assert story.replace("7.6 MiB", "7.8 KiB") in printed and "    v += w\n    u *= 2\n" in printed
    lines = re.findall(r"^line \d+: allocation|`.*` \(line \d+\) stores", text.replace(story, ""), re.M)
    assert len(lines) == 3 and all(line in printed for line in lines)
    with pytest.warns(tracebuf.TracebufWarning) as caught:
        sys.modules["readme_blocks"].noisy(np.ones(3))
    refusal = re.search(r"(line \d+, in noisy\n.*?)\n```", text, re.S)
    assert refusal is not None and refusal[1] in str(caught[0].message)


@pytest.mark.slow
def test_integrals(capsys: pytest.CaptureFixture[str]) -> None:
    load("integrals").main(["--repeat", "1"])
    printed = capsys.readouterr().out
    assert "damped: 0." in printed and "beam: " in printed


@pytest.mark.slow
def test_local_filter(capsys: pytest.CaptureFixture[str]) -> None:
    load("local_filter").main(["--size", "24"])
    printed = capsys.readouterr().out
    assert "24 x 24 pixels" in printed and "swirled: mean" in printed


@pytest.mark.slow
def test_orbit(capsys: pytest.CaptureFixture[str]) -> None:
    load("orbit").main(["--bodies", "3", "--time", "0.5"])
    printed = capsys.readouterr().out
    assert "3 bodies" in printed and "pendulum: at" in printed


def runs_as_a_program(name: str, picture: Path, *args: str) -> str:
    """What an example prints that is run as users do: its workers are processes, and it imports its neighbours."""
    pytest.importorskip("distributed")
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *args, "--out", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 100
    return done.stdout


@pytest.mark.slow
def test_chunks_wave(tmp_path: Path) -> None:
    args = ("--size", "200", "--chunk", "100", "--steps", "4")
    assert "kinetic" in runs_as_a_program("chunks_wave", tmp_path / "wave.png", *args)


@pytest.mark.slow
def test_chunks_images(tmp_path: Path) -> None:
    args = ("--images", "3", "--size", "60", "--chunk", "30")
    assert "image" in runs_as_a_program("chunks_images", tmp_path / "images.png", *args)


@pytest.mark.slow
def test_chunks_monte_carlo(tmp_path: Path) -> None:
    args = ("--paths", "4000", "--days", "8", "--chunk", "1000")
    assert "price" in runs_as_a_program("chunks_monte_carlo", tmp_path / "prices.png", *args)
