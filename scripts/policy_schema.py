"""Write the JSON Schema of policy documents into docs/, for editors and for other tools.

    python scripts/policy_schema.py

Run it where no plug-ins of others are installed: what is installed stands in it.
"""

from __future__ import annotations

from pathlib import Path

from contextlab.core.documents.policy_schema import schema_text

TARGET = Path(__file__).resolve().parents[1] / "docs" / "policy.schema.json"

if __name__ == "__main__":
    TARGET.write_text(schema_text(), encoding="utf-8")
    print(f"wrote {TARGET}")
