"""The page as a Streamlit app: a question, two rows, a button, a scatter that recolours.

Run by `bench.peers.page`.
"""

import os

import pandas as pd
import streamlit as st

from bench.peers.page_blobs import blobs, labels_after, rows_of

N_ROWS = int(os.environ["PAGE_ROWS"])


@st.cache_data
def points():
    return blobs(N_ROWS)


def answered():
    st.session_state.answers += 1


st.session_state.setdefault("answers", 0)
n_answers = st.session_state.answers
places, kind = points()
first, second = rows_of(n_answers, N_ROWS)
left, right = st.columns(2)
left.write(f"Question {n_answers + 1}: do {first['name']} and {second['name']} belong together?")
left.table(pd.DataFrame({first["name"]: [first["x"]], second["name"]: [second["x"]]}, index=["x"]))
left.button("Same", on_click=answered)
clusters = labels_after(kind, n_answers).astype(str)
right.scatter_chart(
    pd.DataFrame({"x": places[:, 0], "y": places[:, 1], "cluster": clusters}), x="x", y="y", color="cluster"
)
