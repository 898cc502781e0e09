"""The aggregates of SQL, one file each; ``base`` holds the contract and finds the files."""
