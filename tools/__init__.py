"""What maintainers run: releases, and the floor of coverage."""
