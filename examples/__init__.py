"""Small applications around armspan, to read, to run and to copy from."""
