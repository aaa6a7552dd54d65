"""The naive readable forms of the policies, written from their papers: what the compiled forms are checked against."""
