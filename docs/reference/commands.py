#!/usr/bin/env python3
"""Prints the body of docs/reference/commands.md: every command, as TRAIN describes it itself.

    docs/reference/commands.py TRAIN

tests/doc_figures holds the page to this; with --write it writes the page anew.
"""
import re
import subprocess
import sys


def help_of(train, *command):
    return subprocess.run([train, *command, "--help"], capture_output=True, text=True, check=True).stdout


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    train = sys.argv[1]
    whole = help_of(train)
    commands = re.findall(r"^  ([a-z-]+) +([A-Z].*)$", whole[whole.index("\nCommands"):], re.M)
    print("| command | does |\n|---|---|")
    print("| [`train`](#train) | %s |" % whole.split("\n", 1)[0])
    for word, does in commands:
        print("| [`train %s`](#train-%s) | %s |" % (word, word, does))
    for word in ["", *(word for word, _ in commands)]:
        name = ("train " + word).strip()
        text = help_of(train, *word.split()).rstrip()
        print("\n## `%s`\n\n```\n%s\n```" % (name, re.sub(r"\n{3,}", "\n\n", text)))


if __name__ == "__main__":
    main()
