"""JSON that every parser takes."""

import json
from typing import Any


def as_json(content: Any) -> str:
    """Indented text; NaN and infinities, which JSON does not know, are an error."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
