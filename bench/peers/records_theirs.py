"""Link records by dedupe or Splink in another Python: read a problem, write the groups.

python records_theirs.py PROBLEM.json FOUND.json

The problem has the name of the program, the columns as lists of texts, the true class of each record, and
after how many answers groups are wanted. dedupe asks about the pairs that it is least sure of; the classes
answer. Splink learns without answers, and is told how many pairs match. Both compare every column as text, as
they advise, and their groups are those at a probability of one half.
"""

import io
import json
import logging
import random
import sys
from collections import Counter

THRESHOLD = 0.5


def link_by_dedupe(problem):
    """Groups after each number of answers, by active learning; None where it cannot learn from so few."""
    import dedupe

    names, classes = list(problem["columns"]), problem["classes"]
    texts = {
        row: {"row": row, **{name: problem["columns"][name][row] or None for name in names}}
        for row in range(len(classes))
    }
    random.seed(problem["seed"])
    variables = [
        dedupe.variables.String(name, has_missing=any(not text[name] for text in texts.values()))
        for name in names
    ]
    asking = dedupe.Dedupe(variables, num_cores=0, in_memory=True)
    asking.prepare_training(texts)
    found, told = {}, {"match": [], "distinct": []}
    for n in range(1, max(problem["at"]) + 1):
        pair = asking.uncertain_pairs()[0]
        is_match = classes[pair[0]["row"]] == classes[pair[1]["row"]]
        kind = "match" if is_match else "distinct"
        told[kind].append(pair)
        asking.mark_pairs({"match": [], "distinct": [], kind: [pair]})
        if n in problem["at"] and all(told.values()):
            linker = dedupe.Dedupe(variables, num_cores=0, in_memory=True)  # training ends the questions
            linker.prepare_training(texts, io.StringIO(json.dumps(told)))
            linker.train()
            groups = linker.partition(texts, THRESHOLD)
            found[n] = number_groups((rows for rows, _ in groups), len(classes))
            print(f"dedupe, {n} answers", file=sys.stderr, flush=True)
    return found


def link_by_splink(problem):
    """Groups without answers, by expectation maximisation."""
    import pandas as pd
    import splink.comparison_library as comparisons
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI
    from splink.internals.exceptions import EMTrainingException

    names, n = list(problem["columns"]), len(problem["classes"])
    frame = pd.DataFrame({f"c{at}": problem["columns"][name] for at, name in enumerate(names)})
    frame = frame.replace("", None)
    frame["unique_id"] = range(n)
    columns = [column for column in frame if column != "unique_id" and frame[column].nunique() > 1]
    rules = [block_on(f"substr({column}, 1, 5)") for column in columns]
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[comparisons.JaroWinklerAtThresholds(column, [0.95, 0.88, 0.7]) for column in columns],
        blocking_rules_to_generate_predictions=rules,
        probability_two_random_records_match=count_pairs(problem["classes"]) / (n * (n - 1) / 2),
    )
    linker = Linker(DuckDBAPI().register(frame), settings, log_level=logging.ERROR)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=problem["seed"])
    for rule in rules:
        try:
            linker.training.estimate_parameters_using_expectation_maximisation(rule)
        except (ValueError, EMTrainingException) as error:  # too few pairs, or a chance that vanishes
            print(f"Splink cannot learn by {rule}: {error}", file=sys.stderr)
    scored = linker.inference.predict(threshold_match_probability=THRESHOLD)
    clustered = linker.clustering.cluster_pairwise_predictions_at_threshold(scored, THRESHOLD)
    table = clustered.as_pandas_dataframe()
    groups = table.groupby("cluster_id")["unique_id"].apply(list)
    return {0: number_groups(groups, n)}


def count_pairs(classes):
    """The number of pairs of one class."""
    return sum(size * (size - 1) // 2 for size in Counter(classes).values())


def number_groups(groups, n):
    """The group of each record; records in none are alone."""
    labels = list(range(n))
    for rows in groups:
        for row in rows:
            labels[int(row)] = n + int(min(rows))
    return labels


def main():
    given, found = sys.argv[1:]
    with open(given) as file:
        problem = json.load(file)
    labels = {"dedupe": link_by_dedupe, "Splink": link_by_splink}[problem["program"]](problem)
    with open(found, "w") as file:
        json.dump(labels, file)


if __name__ == "__main__":
    main()
