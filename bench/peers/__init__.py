"""Other packages that do what linkwise does, each in an environment of its own."""
