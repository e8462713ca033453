"""One family of models a file: how its chat template writes conversations."""
