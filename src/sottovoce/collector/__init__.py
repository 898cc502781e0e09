"""The collector: one process that publishes tasks, takes reports over HTTP and drives plans to their answers."""
