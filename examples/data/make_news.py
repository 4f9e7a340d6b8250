"""Write news.jsonl.gz from the 20 Newsgroups: ``python make_news.py FOLDER``, that of the unpacked archive.

Three groups, 80 articles each. Of an article the body is kept, without header, quotations, signature and
addresses, cut at a word after 900 characters; what is shorter than 200 is passed over.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

GROUPS = ("comp.graphics", "rec.sport.baseball", "sci.space")
A_GROUP = 80
SHORTEST, LONGEST = 200, 900

QUOTED = re.compile(
    r"^\s*([>|:}]|\S{1,4}>|.*(writes|wrote|says|said):?\s*$|In article|[-_=*]{4,}|"
    r"(Subject|From|Archive-name|Last-modified):)"
)
ADDRESS = re.compile(r"\S+@\S+|\(?\+?\d[\d() -]{7,}\d")


def body(text: str) -> str:
    """What the author of an article wrote."""
    text = text.partition("\n\n")[2].partition("\n--")[0]
    lines = (line.strip() for line in text.splitlines() if not QUOTED.match(line))
    words = re.sub(r"\s+", " ", ADDRESS.sub(" ", " ".join(lines))).strip()
    return words if len(words) <= LONGEST else words[:LONGEST].rpartition(" ")[0]


def extract(articles: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    """The first articles of each group that are long enough, the groups by turns."""
    chosen = {
        name: [b for b in map(body, texts) if len(b) >= SHORTEST][:A_GROUP]
        for name, texts in articles.items()
    }
    for number in range(A_GROUP):
        for name, texts in chosen.items():
            yield {"id": f"{name}/{number}", "group": name, "text": texts[number]}


def write(articles: dict[str, list[str]], target: Path) -> None:
    """Write the extract, the same bytes each time."""
    lines = "".join(json.dumps(row) + "\n" for row in extract(articles))
    target.write_bytes(gzip.compress(lines.encode(), mtime=0))


def main() -> None:
    """Read the three folders, and write the file beside this one."""
    root = Path(sys.argv[1])
    articles = {
        name: [path.read_text(encoding="latin-1") for path in sorted((root / name).iterdir())]
        for name in GROUPS
    }
    write(articles, Path(__file__).with_name("news.jsonl.gz"))


if __name__ == "__main__":
    main()
