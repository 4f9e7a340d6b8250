"""The benches of speed write a line for each thing that they time."""

import csv

import pytest
from bench.speed import agglomerative, boosting, fosc, large, npu, records, row_clusters, session, spectral
from sklearn.datasets import load_iris

from linkwise.native.agglomerate import LINKAGES

pytestmark = pytest.mark.slow


@pytest.fixture
def lines_of(tmp_path):
    """``lines_of(bench, name, *options)``: run a bench, and read the table that it writes."""

    def run(bench, name, *options):
        assert bench.main([*options, "--out", str(tmp_path)]) == 0
        with (tmp_path / name).open(newline="") as file:
            return list(csv.DictReader(file))

    return run


def test_agglomerative_clustering_by_size_and_linkage(lines_of, capsys):
    lines = lines_of(agglomerative, "speed_agglomerative/times.csv", "--sizes", "130", "--repeats", "1")
    assert [(line["rows"], line["linkage"]) for line in lines] == [("130", name) for name in LINKAGES]
    assert all(float(line["scikit_learn_s"]) >= 0 for line in lines)
    assert "times_scikit_learn" in capsys.readouterr().out


@pytest.mark.slow(nightly=True)
def test_learned_similarities_by_size_and_method(lines_of, capsys, monkeypatch):
    monkeypatch.setattr(boosting, "MOST", 80)
    lines = lines_of(boosting, "speed_boosting/times.csv", "--sizes", "60", "90", "--repeats", "1")
    few = ["KMeans", "BCKM", "BoostCluster", "KernelBoost"]
    assert [line["method"] for line in lines] == [*few, "PCP", *few]
    assert all(float(line["seconds"]) >= 0 for line in lines)
    assert "times_bckm" in capsys.readouterr().out


def test_fosc_by_size(lines_of, capsys, monkeypatch):
    monkeypatch.setattr(fosc, "MOST_FOR_OPTICS", 100)
    lines = lines_of(fosc, "speed_fosc/times.csv", "--sizes", "60", "130", "--repeats", "1")
    assert [line["rows"] for line in lines] == ["60", "130"]
    assert [line["their_optics_s"] == line["times_optics"] == "" for line in lines] == [False, True]
    assert all(float(line["constrained_s"]) >= 0 for line in lines)
    assert "times_hdbscan" in capsys.readouterr().out


@pytest.mark.slow(nightly=True)
def test_rows_that_stay_on_disk_by_size(lines_of):
    (line,) = lines_of(large, "speed_large.csv", "--sizes", "3000")
    assert line["n"] == "3000"
    assert float(line["peak_MiB"]) > 0
    assert float(line["ari"]) > 0.5


def test_npu_by_set(lines_of, capsys, monkeypatch):
    monkeypatch.setattr(npu, "SETS", {"iris": (load_iris, 60)})
    (line,) = lines_of(npu, "speed_npu/times.csv", "--questions", "3", "--repeats", "1")
    assert (line["set"], line["rows"]) == ("iris", "60")
    assert float(line["question_ms"]) > 0
    assert "times_kmeans" in capsys.readouterr().out


@pytest.mark.slow(nightly=True)
def test_a_larger_sample_of_rows_that_stay_on_disk_is_hardly_better(lines_of):
    options = ("--sizes", "30000", "--sets", "easy", "--pairs", "100", "--samples", "3000", "30000")
    found = lines_of(row_clusters, "speed_row_clusters.csv", *options)
    lines = {(line["method"], line["sample"]): line for line in found}
    for method in row_clusters.METHODS:
        small, large_one = (lines[method, sample] for sample in ("3000", "30000"))
        assert float(small["ari"]) > float(large_one["ari"]) - 0.05 > 0.85
        assert float(small["objective"]) == pytest.approx(float(large_one["objective"]), rel=0.1)
        assert small["broken"] == large_one["broken"] == "0"


@pytest.mark.slow(nightly=True)
def test_sessions_in_memory_and_in_a_file(lines_of):
    lines = lines_of(session, "speed_session.csv", "--sizes", "500")
    assert [(line["kept"], line["n"]) for line in lines] == [("memory", "500"), ("file", "500")]
    assert all(float(line[name]) > 0 for line in lines for name in session.FIELDS[1:])


def test_spectral_clustering_by_size_and_number_of_clusters(lines_of, capsys, monkeypatch):
    monkeypatch.setattr(spectral, "SLOW", 100)
    options = ("--sizes", "60", "120", "--clusters", "2", "--repeats", "1")
    lines = lines_of(spectral, "speed_spectral/times.csv", *options)
    assert [(line["rows"], line["clusters"]) for line in lines] == [("60", "2"), ("120", "2")]
    assert float(lines[0]["cosc_s"]) > 0
    assert lines[1]["cosc_s"] == lines[1]["cosc_times_spectral"] == ""
    assert float(lines[1]["spcl_times_spectral"]) > 0
    assert "spcl_times_spectral" in capsys.readouterr().out


def test_spectral_clustering_by_build_and_set(lines_of, monkeypatch):
    monkeypatch.setattr(spectral, "FIT_CLUSTERS", (2, 3))
    for build in ("before", "after", "after"):
        options = ("--fits", "iris", "--build", build, "--repeats", "1")
        lines = lines_of(spectral, "speed_spectral/fits.csv", *options)
    assert [(line["build"], line["set"]) for line in lines] == [("before", "iris"), ("after", "iris")]
    assert float(lines[0]["fit_ms"]) > 0
    assert lines[0]["violations"] == "0"


@pytest.fixture
def music(tmp_path):
    """A folder like that of MusicBrainz 20K, with two spellings of each of 40 songs."""
    lines = ["id,title,length,artist,album,year,language"]
    for song in range(40):
        title = f"song {chr(97 + song % 26)}{song * 7919 % 1000} of the {song * 104729 % 977} roads"
        for spelling in (title, title.replace("roads", "raods")):
            lines.append(
                f"{len(lines)},{spelling},{song % 7}m,artist {song % 9},album {song % 5},199{song % 10},"
            )
    folder = tmp_path / "music"
    folder.mkdir()
    (folder / "music20K.csv").write_text("\n".join(lines))
    (folder / "ground_truth.txt").write_text("\n".join(f"{2 * k + 1} {2 * k + 2}" for k in range(40)))
    return folder


@pytest.mark.parametrize(
    ("rows", "n"), [("40", "40"), pytest.param("100", "100", marks=pytest.mark.slow(nightly=True))]
)
def test_records_of_fewer_and_of_more_songs(lines_of, music, rows, n):
    (line,) = lines_of(records, "speed_records.csv", "--sizes", rows, "--music", str(music))
    assert line["n"] == n
    assert float(line["recall"]) > 0.9
    assert 0 < float(line["pairs_a_row"]) < 40
    assert float(line["candidates_MiB"]) >= float(line["records_MiB"]) > 0


def test_songs_are_numbered_by_the_lines_of_the_truth():
    rows = [{"id": str(number)} for number in (5, 6, 7, 8)]
    assert records.number_songs(rows, "5 8 6\n9\n7 9") == [0, 0, 1, 0]


def test_other_songs_have_other_words_and_the_same_song_has_the_same():
    row = dict.fromkeys(records.WORDS, "one two three four") | {"year": "1990"}
    copies = list(records.copy_rows([row, row], [0, 0], 6))
    assert [number for _, number in copies] == [0, 0, 1, 1, 2, 2]
    assert copies[2][0] == copies[3][0] != copies[0][0] == row
    assert copies[2][0]["year"] == "1990"


def test_without_songs_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.delenv("LINKWISE_MUSIC", raising=False)
    assert records.main([]) == 0
    assert "--music" in capsys.readouterr().out
