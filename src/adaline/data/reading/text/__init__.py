"""Tables that are written as text: CSV and its dialects, JSON, LIBSVM."""
