# %% [markdown]
# # Customers: a person answers, and rules describe the clusters
#
# You learn how to read a table with numbers, categories and missing values, how to put questions to a
# person in a loop of your own, how to save every answer in a file, and how to export the result: rules on
# the columns of the table, and two CSV files.
#
# Here a function takes the place of the person. It sees the two records that a person would see, and
# sometimes it is unsure.

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
encoded = encode(table)
print(*encoded.notes, sep="\n")


# %% [markdown]
# The person distinguishes customers who order for an office, for a family or for a collection, and young
# and old customers among the rest. If a record shows too little, or fits two kinds, the answer is *unsure*.


# %%
def parse_number(text: str) -> float:
    """Convert a number as it is shown; "missing" means that there is none."""
    return float("nan" if text == "missing" else text)


def judge_customer(record: dict[str, str]) -> str | None:
    """Return the kind of customer that a person would see in a record, or None."""
    basket, orders, returns, age = (
        parse_number(record[name]) for name in ("basket", "orders", "returns", "age")
    )
    if basket >= 200 and orders < 15:
        return "collector"
    if orders >= 20 and basket >= 40:
        return "office" if record["plan"] == "business" or returns < 0.1 else "family"
    if orders < 20 and basket < 100:
        return "young" if age < 40 else "old" if age >= 55 else None
    return None  # the record shows too little, or fits two kinds


def answer(first: int, second: int) -> str:
    """Answer whether two customers belong together."""
    one, other = judge_customer(table.item(first)), judge_customer(table.item(second))
    if one is None or other is None:
        return "unsure"
    return "yes" if one == other else "no"


# %% [markdown]
# Ask sixty questions. Each answer is on the disk before the next question. `Session.open` on the same file
# resumes the session.

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
# Explain the clusters: rules on the columns in their own units, and the share of rows that the rules put
# into their cluster.

# %%
plain = encode(table, scale="none", categories="codes")
print(lw.explain(session.labels, plain, constraints=session.constraints))

# %% [markdown]
# Export the clusters as `id,cluster`, and the answers as pairs.

# %%
with open(Path(folder.name, "clusters.csv"), "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([("id", "cluster"), *zip(table.ids, session.labels, strict=True)])
session.constraints.to_csv(Path(folder.name, "pairs.csv"), ids=table.ids)
print(*(f"{path.name}: {path.stat().st_size} bytes" for path in Path(folder.name).glob("*.csv")), sep="\n")

# %% [markdown]
# Measure how well the clusters match the kinds that the person sees (1 is exactly, 0 is chance). For
# comparison, k-means gets the right number of clusters and no answers.

# %%
kinds = [judge_customer(table.item(row)) for row in range(len(table))]
known = [row for row, kind in enumerate(kinds) if kind is not None]
plain_labels = KMeans(len(set(kinds) - {None}), n_init=10, random_state=0).fit_predict(encoded.X)


def measure_match(labels) -> float:
    """Return the adjusted Rand index over the customers whose kind the person sees."""
    return adjusted_rand_score([kinds[row] for row in known], [labels[row] for row in known])


print(f"{len(known)} of {len(table)} customers have a kind; k-means: ARI {measure_match(plain_labels):.2f}")
print(f"ARI {measure_match(session.labels):.2f}")
session.close()
folder.cleanup()
