"""Write the GitHub workflows in a Markdown file's fenced YAML blocks to files, for linters that read files."""

import re
import sys
from pathlib import Path

FENCED_YAML = re.compile(r"^```ya?ml\n(.*?)^```", re.DOTALL | re.MULTILINE)


def main(document: str, directory: str) -> None:
    blocks = FENCED_YAML.findall(Path(document).read_text(encoding="utf-8"))
    workflows = [block for block in blocks if re.search(r"^jobs:", block, re.MULTILINE)]
    for number, workflow in enumerate(workflows, start=1):
        Path(directory, f"{Path(document).stem}-{number}.yml").write_text(workflow, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
