"""Cases whose truth is known, to see how often a conclusion about them is wrong."""
