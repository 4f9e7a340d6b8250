"""The README's Python runs as it stands."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs(capsys):
    code = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(code) == 1
    exec(compile(code[0], "README.md", "exec"), {})
    assert "after 40 questions" in capsys.readouterr().out


def test_what_the_readme_links_to_exists():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) >= 4
    assert all((Path(__file__).parents[1] / link).exists() for link in links)
