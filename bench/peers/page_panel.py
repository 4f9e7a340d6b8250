"""The page as a Panel app: a question, two rows, a button, a scatter that recolours.

Run by `bench.peers.page`.
"""

import os

import panel as pn
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.palettes import Category10
from bokeh.plotting import figure

from bench.peers.page_blobs import blobs, labels_after, rows_of

N_ROWS = int(os.environ["PAGE_ROWS"])
PLACES, KIND = blobs(N_ROWS)


def app():
    answers = [0]
    source = ColumnDataSource({"x": PLACES[:, 0], "y": PLACES[:, 1], "cluster": labels_after(KIND, 0)})
    plot = figure(width=620, height=400, output_backend="webgl", tools="pan,wheel_zoom,reset")
    colours = LinearColorMapper(palette=Category10[10], low=0, high=9)
    plot.scatter("x", "y", source=source, size=4, color={"field": "cluster", "transform": colours})
    question, rows = pn.pane.Markdown(), pn.pane.Markdown()
    same = pn.widgets.Button(name="Same")

    def show():
        first, second = rows_of(answers[0], N_ROWS)
        question.object = (
            f"Question {answers[0] + 1}: do {first['name']} and {second['name']} belong together?"
        )
        rows.object = (
            f"|  | {first['name']} | {second['name']} |\n|--|--|--|\n| x | {first['x']} | {second['x']} |"
        )

    def answer(event):
        answers[0] += 1
        source.data["cluster"] = labels_after(KIND, answers[0])  # this column alone is sent
        show()

    same.on_click(answer)
    show()
    return pn.Row(pn.Column(question, rows, same), pn.pane.Bokeh(plot))


pn.extension()
app().servable()
