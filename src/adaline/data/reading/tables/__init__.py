"""Tables whose columns have types: Parquet and Arrow files, sheets, tables in memory."""
