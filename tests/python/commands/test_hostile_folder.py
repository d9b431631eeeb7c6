"""Nothing is imported from the folder where the user stands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ranvier.base.python_process import python_command
from ranvier.command_line import main
from repository import ROOT

COMMAND = Path(sys.executable).with_name("ranvier")
# Each is imported early by something that Ranvier starts.
NAMES = ("ctypes", "numpy", "mpi4py", "json", "rich", "h5py", "matplotlib", "ranvier", "subprocess")


@pytest.fixture
def hostile_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let the test stand in a folder with modules of well-known names, and see that none is carried out."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in NAMES:
        source = f"open({str(tmp_path / 'carried_out')!r}, 'a').write('{name} ')\nraise ImportError('hostile')\n"
        (folder / f"{name}.py").write_text(source)
    monkeypatch.chdir(folder)
    yield folder
    carried_out = tmp_path / "carried_out"
    assert not carried_out.exists(), carried_out.read_text()


def run(*arguments: str) -> str:
    """Run the command of the package, and return what it printed."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("hostile_folder")
def test_what_further_processes_import() -> None:
    told = subprocess.run(python_command("-c", "import json; print(json.__file__)"), capture_output=True, check=True)
    assert b"hostile" not in told.stdout


@pytest.mark.usefixtures("hostile_folder")
def test_info() -> None:
    # It asks the libraries of MPI for their versions, in processes of their own.
    assert "MPI" in run("info")


def test_no_process_is_started_otherwise() -> None:
    """The others take long to run: they are in the validation. Here, that nobody starts Python in another way."""
    sources = sorted((ROOT / "python/ranvier").rglob("*.py"))
    assert len(sources) > 50
    assert [path.name for path in sources if "sys.executable" in path.read_text()] == ["python_process.py"]


MODEL = """
import beside
import ranvier as rv

def network(size=10):
    import beside_too
    net = rv.Network()
    net.create(rv.iaf_psc_exp(I_e=500.0), beside.SIZE + beside_too.SIZE, name="neurons")
    return net
"""


SIMPLE_MODEL = """
import ranvier as rv

def network():
    net = rv.Network()
    net.create(rv.iaf_psc_exp(I_e=500.0), 3)
    return net
"""


def test_a_model_may_import_what_lies_beside_it_and_ranvier_does_not(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "beside.py").write_text("SIZE = 5\n")
    (tmp_path / "beside_too.py").write_text("SIZE = 6\n")
    before = list(sys.path)
    assert main(["run", str(tmp_path / "model.py"), "--set", "time=10"]) == 0
    assert "11" in capfd.readouterr().out
    assert sys.path == before


def test_a_model_in_a_hostile_folder(hostile_folder: Path, tmp_path: Path) -> None:
    # Where the user stands is not where the model lies.
    model = tmp_path / "elsewhere" / "model.py"
    model.parent.mkdir()
    model.write_text(SIMPLE_MODEL)
    # What draws is only loaded once the model has been described.
    (model.parent / "matplotlib.py").write_text((hostile_folder / "matplotlib.py").read_text())
    run("run", str(model), "--set", "time=10", "--plot", str(tmp_path / "figure.png"))
    assert (tmp_path / "figure.png").exists()
