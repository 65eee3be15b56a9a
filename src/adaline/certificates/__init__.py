"""How we know: evidence computed apart from the procedure that wants to be believed."""
