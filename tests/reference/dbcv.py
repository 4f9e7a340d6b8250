"""DBCV of Moulavi et al. (2014), written down one definition after the other."""

from itertools import combinations
from math import dist, inf


def core_distances(points, rows):
    """All-points core distance of each row of a cluster; rows at distance 0 add nothing."""
    d, core = len(points[0]), {}
    for i in rows:
        apart = [dist(points[i], points[j]) for j in rows if j != i]
        density = sum((1 / gap) ** d for gap in apart if gap > 0) / (len(rows) - 1)
        core[i] = density ** (-1 / d) if density > 0 else 0.0
    return core


def spanning_tree(points, rows, core):
    """Kruskal's algorithm under mutual reachability, the shorter of equal edges first."""
    edges = sorted(
        (max(core[i], core[j], dist(points[i], points[j])), dist(points[i], points[j]), i, j)
        for i, j in combinations(rows, 2)
    )
    part = {i: i for i in rows}
    tree = []
    for weight, _, i, j in edges:
        if part[i] != part[j]:
            tree.append((weight, i, j))
            old = part[j]
            part = {row: part[i] if p == old else p for row, p in part.items()}
    return tree


def dbcv(points, labels):
    """The validity index of a clustering."""
    clusters = {}
    for i, label in enumerate(labels):
        if label != -1:
            clusters.setdefault(label, []).append(i)
    clusters = [rows for rows in clusters.values() if len(rows) > 1]
    if len(clusters) < 2:
        return -1.0
    found = []
    for rows in clusters:
        core = core_distances(points, rows)
        tree = spanning_tree(points, rows, core)
        degree = {i: sum(i in edge[1:] for edge in tree) for i in rows}
        inner = [i for i in rows if degree[i] > 1]
        within = [w for w, i, j in tree if degree[i] > 1 and degree[j] > 1] or [w for w, _, _ in tree]
        found.append((rows, core, inner or rows, max(within)))
    total = 0.0
    for a, (rows, core, inner, sparseness) in enumerate(found):
        separation = min(
            max(core[i], other_core[j], dist(points[i], points[j]))
            for b, (_, other_core, other_inner, _) in enumerate(found)
            if b != a
            for i in inner
            for j in other_inner
        )
        larger = max(separation, sparseness)
        total += len(rows) / len(points) * ((separation - sparseness) / larger if larger > 0 else 0.0)
    assert -inf < total < inf
    return total
