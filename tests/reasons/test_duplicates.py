"""What the rows of clusters of duplicates have in common, and what differs."""

from linkwise.reasons.duplicates import compare_duplicates

CELLS = {
    "name": ["Ann Lee", "Anne Lee", "Ann Lee", "Bo Ek", "Bo Ek", "Cy Wu"],
    "phone": ["12", "12", "", "34", "35", "56"],
    "town": ["", "", "", "Ulm", "Ulm", ""],
}
LABELS = [0, 0, 0, 1, 1, 2]


def test_what_is_the_same_and_what_differs():
    found = compare_duplicates(LABELS, CELLS)
    first, second = found.groups
    assert (first.cluster, first.rows) == (0, (0, 1, 2))
    assert (first.shared, first.different) == ({"phone": "12"}, {"name": ("Ann Lee", "Anne Lee")})
    assert (second.shared, second.different) == ({"name": "Bo Ek", "town": "Ulm"}, {"phone": ("34", "35")})
    assert found.n_alone == 1
    assert found.headline == (
        "2 clusters of several rows agree: town in 100%, phone in 50%, name in 50% of those with a value."
        " 1 row is alone."
    )
    assert first.lines("abcdef") == [
        "cluster 0: 3 rows (a, b, c)",
        "  the same: phone 12",
        "  name differs: Ann Lee · Anne Lee",
    ]


def test_much_is_counted():
    cells = {"name": [f"Ann {'e' * n}" for n in range(12)]}
    (group,) = compare_duplicates([0] * 12, cells).groups
    head, names = group.lines([f"r{n}" for n in range(12)])
    assert head == "cluster 0: 12 rows (r0, r1, r2, r3, r4, r5, r6, r7 and 4 more)"
    assert names == "  name differs: Ann  · Ann e · Ann ee · Ann eee and 8 more"


def test_rows_alone_and_rows_in_no_cluster():
    found = compare_duplicates([0, 1, -1, -1, 2, 3], CELLS)
    assert found.groups == []
    assert found.headline == "No two rows are in one cluster. 6 rows are alone."
