"""Problems that are nearly diverse, drawn to fool an audit by somebody who had not seen its rule."""
