"""Names as figures show them: letter by letter, because Matplotlib would read some of them as commands."""


def plain(name: object) -> str:
    """The text that Matplotlib draws as this name: a dollar begins no formula, an underscore in front hides nothing."""
    text = str(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text  # a legend leaves out what begins with an underscore
