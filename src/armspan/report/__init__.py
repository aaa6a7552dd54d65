"""Results as figures, tables and one self-contained HTML page. Needs the extra `lab`."""
