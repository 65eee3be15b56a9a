"""Models for other programs: a tree of expressions, printed as SQL, C and Python; ONNX and JSON."""
