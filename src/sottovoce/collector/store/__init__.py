"""Where a collector keeps tasks, tokens and the reports of open rounds: one module per database."""
