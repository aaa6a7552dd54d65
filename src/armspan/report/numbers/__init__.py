"""What a report says without a figure, for machines and for the terminal: nothing here needs Matplotlib."""
