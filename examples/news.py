# %% [markdown]
# # News: texts by subject, described by their words
#
# You learn how texts become points (TF-IDF, then a few topics by SVD), how few questions it takes to sort
# 240 articles of three newsgroups, and how words describe clusters of texts.
#
# The newsgroup of an article takes the place of a person's opinion.

# %%
import gzip
import json
from pathlib import Path

from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.data import encode_texts

HERE = Path(__file__).parent if "__file__" in globals() else Path.cwd()

with gzip.open(HERE / "data" / "news.jsonl.gz", "rt", encoding="utf-8") as file:
    articles = [json.loads(line) for line in file]
texts = [article["text"] for article in articles]
groups = [article["group"] for article in articles]

encoded = encode_texts(texts)
print(*encoded.notes, sep="\n")

# %% [markdown]
# For comparison, k-means with the right number of clusters and no answers.

# %%
plain = KMeans(3, n_init=10, random_state=0).fit_predict(encoded.X)
print(f"k-means: ARI {adjusted_rand_score(groups, plain):.2f}")

# %% [markdown]
# KIN asks questions and finds the number of clusters itself. `history_` contains the clusters after each
# question, so one run also shows the results of fewer questions.

# %%
model = lw.KIN(random_state=0).fit(encoded.X, oracle=lambda i, j: groups[i] == groups[j], budget=60)
for n_questions in (10, 20, 40, 60):
    labels = model.history_[n_questions - 1]
    n_clusters = len(set(labels.tolist()))
    print(f"{n_questions:>3} questions: {n_clusters} clusters, ARI {adjusted_rand_score(groups, labels):.2f}")

# %% [markdown]
# Describe the clusters by their words.

# %%
for cluster in lw.telling_words(model.labels_, texts, most=4):
    print(*cluster.lines(), sep="\n")

# %%
print(f"ARI {adjusted_rand_score(groups, model.labels_):.2f}")
