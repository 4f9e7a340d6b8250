"""``linkwise ask --method explore|minmax|npu|weights``: the number of clusters must be said."""

import pytest

from linkwise.session.session import Session

each = pytest.mark.parametrize("method", ["explore", "minmax", "npu"])
each_told = pytest.mark.parametrize("method", ["explore", "minmax", "npu", "weights"])
QUICK = ("--estimator", "pckmeans")


@each_told
def test_without_the_number_of_clusters_it_says_what_to_type(fruit, linkwise, method):
    done = linkwise("ask", fruit.path, "--method", method)
    assert done.exit_code == 2
    assert f"{method} needs the number of clusters. Add --clusters N, or use --method kin" in done.stderr
    assert not fruit.session.exists()


@pytest.mark.slow
@each
def test_the_truth_finds_the_groups(fruit, linkwise, method):
    truth = list(fruit.truth.values())
    done = linkwise("ask", fruit.path, "--method", method, "--clusters", 3, *QUICK, said="q\n")
    assert done.exit_code == 0, done.stderr
    assert "The answers have reached 0 of 3 clusters and placed 0 rows." in done.stdout
    from linkwise.data import encode, read_table

    with Session.open(fruit.session, encode(read_table(fruit.path)).X) as session:
        for _ in range(6):
            session.answer(truth[session.question.first] == truth[session.question.second])
        assert len(set(zip(session.labels.tolist(), truth, strict=True))) == 3
    status = linkwise("status", fruit.path).stdout
    assert "3 clusters, by pckmeans, seed 0" in status
    assert "The answers have reached 3 of 3 clusters" in status


@pytest.mark.slow
def test_weights_are_tuned_by_answers_and_by_pairs_that_are_brought_in(fruit, linkwise, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f3,must-link\nf0,f1,cannot-link\nf1,f2,cannot-link\n")
    done = linkwise(
        "ask", fruit.path, "--method", "weights", "--clusters", 3, "--constraints", pairs, said="s\nq\n"
    )
    assert done.exit_code == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "2 of at most 4 dimensions are in use." in told  # three columns of 0 and 1 add up to 1
    assert "What counts in the learned distance: " in told
    told = linkwise("explain", fruit.path).stdout
    assert "What counts in the learned distance: " in " ".join(told.split())
    status = linkwise("status", fruit.path).stdout
    assert "ActiveFeatureWeights, 3 clusters, seed 0" in status
    assert "3 pairs imported" in status
    refused = linkwise("ask", fruit.path, "--estimator", "pckmeans")
    assert refused.exit_code == 2
    assert "--estimator is an option of explore and minmax and npu, and the method is weights." in " ".join(
        refused.stderr.split()
    )
    done = linkwise("ask", fruit.path, "--method", "minmax", said="q\n")
    assert "MinMax, 3 clusters, by mpckmeans, seed 0 asks from now on" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_they_take_over_from_each_other_and_keep_what_they_share(fruit, linkwise):
    linkwise("ask", fruit.path, said="n\nq\n")
    refused = linkwise("ask", fruit.path, "--method", "minmax")
    assert refused.exit_code == 2
    assert "minmax needs the number of clusters. Add --clusters N" in refused.stderr
    done = linkwise("ask", fruit.path, "--method", "minmax", "--clusters", 4, *QUICK, said="q\n")
    assert "MinMax, 4 clusters, by pckmeans, seed 0 asks from now on" in " ".join(done.stdout.split())
    done = linkwise("ask", fruit.path, "--method", "npu", said="q\n")
    assert "NPU, 4 clusters, by pckmeans, seed 0 asks from now on" in " ".join(done.stdout.split())
    assert "asks from now on" not in linkwise("ask", fruit.path, "--clusters", 4, said="q\n").stdout
    done = linkwise("ask", fruit.path, "--clusters", 3, "--estimator", "mpckmeans", said="q\n")
    assert "NPU, 3 clusters, by mpckmeans, seed 0 asks from now on" in " ".join(done.stdout.split())
    done = linkwise("ask", fruit.path, "--method", "cobras", said="q\n")
    assert "COBRAS, seed 0 asks from now on" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--clusters", 3),
            "kin finds the number of clusters. Remove --clusters 3, or use --method explore|minmax|",
        ),
        (
            ("--method", "cobs", *QUICK),
            "--estimator is an option of explore and minmax and npu, and the method is cobs",
        ),
        (
            ("--method", "npu", "--clusters", 3, "--preset", "quick"),
            "--preset is an option of cobs, and the method is npu. Remove --preset",
        ),
        (
            ("--method", "npu", "--clusters", 3, "--estimator", "kmeans"),
            "--estimator names no clusterer of linkwise: kmeans. Choose one of ",
        ),
        (("--method", "npu", "--clusters", 0), "Invalid value for '--clusters'"),
    ],
)
def test_wrong_use(fruit, linkwise, options, words):
    done = linkwise("ask", fruit.path, *options)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not fruit.session.exists()


def test_more_clusters_than_rows_are_refused(fruit, linkwise):
    for method in ("explore", "weights"):
        done = linkwise("ask", fruit.path, "--method", method, "--clusters", 99, said="n\nq\n")
        assert done.exit_code == 3
        assert "n_samples=30 should be >= n_clusters=99" in done.stderr
        assert not fruit.session.exists()
