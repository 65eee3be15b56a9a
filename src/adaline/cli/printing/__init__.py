"""What the commands print: sentences, tables, JSON, progress, errors."""
