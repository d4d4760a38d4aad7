"""Writes the settings of bot/config.py into action.yml and README.md, so that they cannot drift (`make settings`)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.config import SETTINGS, Setting

ROOT = Path(__file__).parent.parent


def action_inputs() -> str:
    """The inputs block of action.yml, without defaults: GitHub would send them as if a person had set them, and what
    .github/selfrepair.yml says would never count."""
    rows = {row.name: {"description": _described(row), "required": False} for row in SETTINGS}
    text = yaml.safe_dump(rows, sort_keys=False, width=1000, allow_unicode=True)
    return "".join(f"  {line}\n" for line in text.splitlines())


def _described(row: Setting) -> str:
    return f"{row.help} Default: {row.default}." if row.default else row.help


def readme_table() -> str:
    """The table of settings for README.md."""
    rows = ["| setting | default | what it does |", "|---|---|---|"]
    rows += [f"| `{row.name}` | {f'`{row.default}`' if row.default else ''} | {row.help} |" for row in SETTINGS]
    return "\n".join(rows) + "\n"


def between(text: str, block: str, new: str) -> str:
    """`text` with what stands between the marker lines of `block` replaced by `new`."""
    pattern = rf"(^.*{block}: begin.*\n)(?:.*\n)*?(^.*{block}: end.*$)"
    return re.sub(pattern, lambda match: match[1] + new + match[2], text, count=1, flags=re.MULTILINE)


def example() -> str:
    """The example workflow, fenced for README.md."""
    return f"```yaml\n{(ROOT / 'docs/examples/selfrepair.yml').read_text()}```\n"


def written() -> dict[str, str]:
    """Each generated file's name and the content it must have."""
    action = between((ROOT / "action.yml").read_text(), "settings", action_inputs())
    readme = between((ROOT / "README.md").read_text(), "settings", readme_table())
    return {"action.yml": action, "README.md": between(readme, "example", example())}


def main() -> int:
    """Rewrite both files in place."""
    for name, content in written().items():
        (ROOT / name).write_text(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
