"""Answer questions by the classes in a file, as ``linkwise ask --oracle`` wants it.

    linkwise ask DATA --oracle "python bench/judge_by_truth.py TRUTH.csv"

The file has the columns id and class. Where linkwise has no ids, it sends positions.
"""

import csv
import json
import sys


def main() -> None:
    """Read questions from stdin until it ends, and write an answer to each."""
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    classes = {str(at): row["class"] for at, row in enumerate(rows)}
    classes |= {row["id"]: row["class"] for row in rows}
    for line in sys.stdin:
        question = json.loads(line)
        first, second = (classes[str(name)] for name in question["ids"])
        answer = "yes" if first == second else "no"
        print(json.dumps({"id": question["id"], "answer": answer}), flush=True)


if __name__ == "__main__":
    main()
