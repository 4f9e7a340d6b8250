# %% [markdown]
# # Customers: a person answers, and the clusters come with rules
#
# You learn how to read a mixed table (numbers, categories, gaps), put questions to a person in a loop of
# your own, keep every answer in a file, and hand on the result: rules in the table's own columns, and two
# CSV files.
#
# A function stands for the person here. It sees what a person would see, two records, and it does not
# always know.

# %%
import csv
import tempfile
from pathlib import Path

from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.data import encode, read_table

HERE = Path(__file__).parent if "__file__" in globals() else Path.cwd()

table = read_table(HERE / "data" / "customers.csv", id_column="customer")
encoded = encode(table, impute="median")  # nothing is filled in unless you say so
print(*encoded.notes, sep="\n")


# %% [markdown]
# The person's view: who orders for an office, who for a family, who collects, and the young and the old
# among the rest. A record that shows too little, or two things at once, gives an honest *unsure*.


# %%
def number(shown: str) -> float:
    """What is not known is shown as a dash."""
    return float("nan" if shown == "—" else shown)


def seen_as(record: dict[str, str]) -> str | None:
    """What a person takes a customer for; None where the record does not say."""
    basket, orders, returns, age = (number(record[name]) for name in ("basket", "orders", "returns", "age"))
    if basket >= 200 and orders < 15:
        return "collector"
    if orders >= 20 and basket >= 40:
        return "office" if record["plan"] == "business" or returns < 0.1 else "family"
    if orders < 20 and basket < 100:
        return "young" if age < 40 else "old" if age >= 55 else None
    return None  # too little is known, or it does not fit


def answer(first: int, second: int) -> str:
    """Say whether two belong together, as far as the records tell."""
    one, other = seen_as(table.item(first)), seen_as(table.item(second))
    if one is None or other is None:
        return "unsure"
    return "yes" if one == other else "no"


# %% [markdown]
# Sixty questions, each answer on the disk before the next is asked. `Session.open` on the same file would
# go on.

# %%
folder = tempfile.TemporaryDirectory()
session = lw.Session.open(
    Path(folder.name, "customers.linkwise"), encoded.X, lw.KIN(random_state=0), ids=table.ids
)
for _ in range(60):
    question = session.question
    if question is None:
        break
    session.answer(answer(question.first, question.second))
print(session.status.n_answers, "answers:", *session.status.description)

# %% [markdown]
# Why these clusters: rules on the columns in their own units, and how many rows they put right.

# %%
plain = encode(table, scale="none", categories="codes", impute="median")
print(lw.explain(session.labels, plain, constraints=session.constraints))

# %% [markdown]
# What others need: `id,cluster`, and the answers as pairs.

# %%
with open(Path(folder.name, "clusters.csv"), "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([("id", "cluster"), *zip(table.ids, session.labels, strict=True)])
session.constraints.to_csv(Path(folder.name, "pairs.csv"), ids=table.ids)
print(*(f"{path.name}: {path.stat().st_size} bytes" for path in Path(folder.name).glob("*.csv")), sep="\n")

# %% [markdown]
# How well the clusters match what the person would say of each customer (1: exactly, 0: by chance),
# beside k-means that is told how many clusters there are, and asks nobody.

# %%
kinds = [seen_as(table.item(row)) for row in range(len(table))]
known = [row for row, kind in enumerate(kinds) if kind is not None]
blind = KMeans(len(set(kinds) - {None}), n_init=10, random_state=0).fit_predict(encoded.X)


def match(labels) -> float:
    """Adjusted Rand index over the customers of whom the person could tell."""
    return adjusted_rand_score([kinds[row] for row in known], [labels[row] for row in known])


print(f"{len(known)} of {len(table)} customers can be told; k-means: ARI {match(blind):.2f}")
print(f"ARI {match(session.labels):.2f}")
session.close()
folder.cleanup()
