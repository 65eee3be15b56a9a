"""x"""

HARMLESS: dict[str, dict[str, str]] = {}
