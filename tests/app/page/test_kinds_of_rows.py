"""Texts, images and curves on the presenter of a page."""

import base64
import json

import numpy as np
import pytest
from PIL import Image

from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading

RNG = np.random.default_rng(8)


def write(folder, kind):
    """Twelve rows of a kind, and how they are read."""
    if kind == "text":
        path = folder / "t.jsonl"
        texts = [
            " ".join(RNG.choice(["sea", "sail", "ship"] if i % 2 else ["oven", "dough"], 3))
            for i in range(12)
        ]
        path.write_text(
            "".join(json.dumps({"id": f"r{i}", "n": i, "body": t}) + "\n" for i, t in enumerate(texts))
        )
        return path, Reading(text="body")
    if kind == "series":
        path = folder / "s.csv"
        lines = [f"r{i},here," + ",".join(f"{v:.3f}" for v in RNG.normal(size=5)) for i in range(12)]
        path.write_text("\n".join(["id,place,a,b,c,d,e", *lines]) + "\n")
        return path, Reading(series=True)
    path = folder / "photos"
    path.mkdir()
    for i in range(12):
        Image.fromarray(RNG.integers(0, 255, (9, 7, 3), dtype=np.uint8)).save(path / f"r{i:02}.png")
    return path, Reading()


@pytest.mark.parametrize("kind", ["text", "image", "series"])
def test_the_presenter_shows_what_a_row_is(tmp_path, kind):
    path, reading = write(tmp_path, kind)
    project = open_project(path, tmp_path / "s.linkwise", reading, MethodChoice())
    presenter = present_project(project)
    state = presenter.state()
    assert state["kind"] == kind
    json.dumps(state, allow_nan=False)
    item = state["question"]["first"]
    names = [field["name"] for field in item["fields"]]
    if kind == "text":
        assert item["text"] == project.items.content(item["row"])
        assert names == ["n"]
    elif kind == "series":
        assert item["series"] == project.items.content(item["row"])
        assert names == ["place"]
    else:
        assert base64.b64decode(item["image"].partition(",")[2]) == project.items.content(item["row"])
        assert names == []
    reply = presenter.handle(
        {"id": "v1", "do": "answer", "question": state["question"]["id"], "answer": "no"}
    )
    assert reply.body["ok"] is True
    rules = presenter.handle({"id": "v2", "do": "rules"})
    if kind == "text":
        clusters = [each["cluster"] for each in presenter.state()["clusters"]]
        assert len(clusters) >= 2
        assert sorted(each["cluster"] for each in rules.body["clusters"]) == sorted(clusters)
        assert "of its texts" in str(rules.body["clusters"])
    else:
        assert (rules.body["ok"], rules.body["error"]["kind"]) == (False, "bad")
    presenter.close()
