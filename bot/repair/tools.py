"""The typed tools that a model may answer with: one for edits, one to say that the test is what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

EDIT_TOOL = "propose_edits"
CONTRADICTION_TOOL = "test_contradicts_contract"
CONTRADICTION_LINE = "TEST CONTRADICTS CONTRACT"
"""How a model without tools says the same: this, a colon and its reason, on one line."""

TOOLS: Sequence[dict[str, Any]] = (
    {
        "name": EDIT_TOOL,
        "description": "Propose the edits that repair the failing checks. Applied in order, all or nothing.",
        "strict": True,
        "input_schema": {
            "type": "object",
            "properties": {
                "rationale": {"type": "string", "description": "What was wrong, in one or two sentences."},
                "edits": {
                    "type": "array",
                    "items": {
                        "anyOf": [
                            {
                                "type": "object",
                                "description": "Replace the one place where `old` stands.",
                                "properties": {
                                    "path": {"type": "string", "description": "Relative to the repository's root."},
                                    "old": {"type": "string", "description": "Exact text that occurs once."},
                                    "new": {"type": "string", "description": "What stands there afterwards."},
                                },
                                "required": ["path", "old", "new"],
                                "additionalProperties": False,
                            },
                            {
                                "type": "object",
                                "description": "Write a whole file.",
                                "properties": {
                                    "path": {"type": "string", "description": "Relative to the repository's root."},
                                    "content": {"type": "string", "description": "The whole new content."},
                                },
                                "required": ["path", "content"],
                                "additionalProperties": False,
                            },
                        ]
                    },
                },
            },
            "required": ["rationale", "edits"],
            "additionalProperties": False,
        },
    },
    {
        "name": CONTRADICTION_TOOL,
        "description": "Say that a failing test contradicts what the code's own documentation promises.",
        "strict": True,
        "input_schema": {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "The promise, quoted, and how the test contradicts it."}
            },
            "required": ["reason"],
            "additionalProperties": False,
        },
    },
)
"""In the form of the Messages API. `strict` holds the model to the schema; replies are checked all the same."""
