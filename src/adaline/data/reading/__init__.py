"""Files and tables to blocks of rows; columns to numbers."""
