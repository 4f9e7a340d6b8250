"""Why two rows are together or apart, by the rows near them."""

from linkwise.reasons.near_rows import describe_near_rows

X = [[0.0], [0.0], [1.0], [8.0], [9.0], [30.0]]


def test_rows_together():
    said = describe_near_rows(list("aaabbb"), X, 3, 5, "r{}".format)
    assert said == [
        "Of the 2 rows nearest to r3, 1 is in cluster a and 1 is in cluster b.",
        "r5 is number 5 of 5 other rows, from near to far.",
        "Of the 2 rows nearest to r5, 2 are in cluster b.",
        "r3 is number 2 of 5 other rows, from near to far.",
    ]


def test_a_row_that_equals_another_one_and_a_row_alone():
    said = describe_near_rows([0, 0, 0, 1, 1, 2], X, 0, 5)
    assert "1, of the same cluster, equals 0 in what is compared." in said
    assert "5 is alone in its cluster." in said
    said = describe_near_rows([0, 1, 0, 1, 2, 2], X, 0, 1)
    assert "1, of cluster 1, equals 0 in what is compared." in said
    assert not any("0.0 times" in sentence for sentence in said)


def test_a_row_in_no_cluster():
    said = describe_near_rows([0, 0, 0, 1, 1, -1], X, 0, 5)
    assert said == [
        "Of the 2 rows nearest to 0, 2 are in cluster 0.",
        "Of the 2 rows nearest to 5, 2 are in cluster 1.",
    ]
    assert "in no cluster" in describe_near_rows([0, -1, 0, 1, 1, 1], X, 0, 5)[0]
