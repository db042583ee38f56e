"""The quality and the speed of the steps. Nothing here is a test: figures depend on the machine and on the gold items at hand."""
