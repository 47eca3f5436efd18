"""Command lines of scripts whose docstring is their help: what stands below "Usage: " is the usage."""
import argparse


class Parser(argparse.ArgumentParser):
    """Errors print the usage and end with exit code 2; --help prints the docstring."""

    def __init__(self, doc, **options):
        raw = argparse.RawDescriptionHelpFormatter
        super().__init__(usage=doc.split("Usage: ")[1], add_help=False, formatter_class=raw, **options)
        self.add_argument("-h", "--help", action="version", version=doc.strip())
