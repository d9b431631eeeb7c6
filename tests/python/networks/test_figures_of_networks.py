"""`ranvier run --plot` draws the figure that a network brings."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from PIL import Image

import ranvier as rv
from ranvier.command_line import main

NETWORK = """
import matplotlib.pyplot as plt
import ranvier as rv

def draw(spikes, title):
    {body}

def network():
    net = rv.Network(name="own")
    net.create(rv.iaf_psc_exp(I_e=600.0), 3)
    return rv.networks.NetworkModel(net=net, spikes=net.record_spikes(), time=50.0, figure=draw)
"""


def plotted(folder: Path, model: str, *settings: str) -> int:
    more = ["--set", *settings] if settings else []
    return main(["run", model, "--plot", str(folder / "drawn.png"), *more])


def test_the_figure_of_a_shipped_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def draw(spikes: rv.SpikeData, *rest: object, title: str) -> Figure:
        given.extend([len(spikes.segments), title])
        return Figure(figsize=(2, 1), dpi=100)

    monkeypatch.setattr("ranvier.figures.packets.packets", draw)
    assert plotted(tmp_path, "synfire", "groups=2", "group_size=20") == 0
    assert given == [2, "Synfire chain of 2 groups: 40 neurons, 420 synapses"]
    assert imread(tmp_path / "drawn.png").shape[:2] == (100, 200)


def test_the_figure_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own_figure.py"
    file.write_text(NETWORK.format(body="assert len(spikes) > 0; return plt.figure(figsize=(2, 1), dpi=100)"))
    assert plotted(tmp_path, str(file)) == 0
    assert imread(tmp_path / "drawn.png").shape[:2] == (100, 200)


@pytest.mark.parametrize(
    ("body", "message"),
    [("return title", "a str"), ("return 1 / 0", "line 6: ZeroDivisionError")],
)
def test_a_figure_that_fails(body: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "failing_figure.py"
    file.write_text(NETWORK.format(body=body))
    assert plotted(tmp_path, str(file)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "drawn.png").exists()


SHEET = """
import ranvier as rv

def network(placed=True):
    net = rv.Network(name="sheet")
    net.create(rv.iaf_psc_exp(I_e=600.0), 4, positions=rv.grid((2, 2)) if placed else None, name="all")
    return net
"""


def test_a_movie_of_neurons_with_positions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, movie = tmp_path / "sheet.py", tmp_path / "sheet.gif"
    file.write_text(SHEET)
    arguments = ["run", str(file), "--set", "time=40", "--movie", str(movie), "--movie-bin", "20"]
    assert main(arguments) == 0
    assert f"Movie in {movie}" in capsys.readouterr().out.replace("\n", "")
    with Image.open(movie) as image:
        assert image.n_frames == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "placed=false", "--movie", "sheet.gif"], "no positions"),
        (["--movie", "sheet.avi"], ".gif or .mp4"),
        (["--movie", "same.gif", "--json", "same.gif"], "both the movie and other results"),
        (["--movie", "sheet.gif", "--dry-run", "4"], "no spikes"),
        (["--movie", "sheet.gif", "--movie-bin", "0.15"], "--movie-bin is 0.15 ms"),
        (["--movie", "sheet.gif", "--movie-bin", "30", "--set", "time=20"], "the run has 20 ms"),
    ],
)
def test_movies_that_are_refused(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sheet.py").write_text(SHEET)
    assert main(["run", "sheet.py", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("*.gif"))
