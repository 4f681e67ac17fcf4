#!/usr/bin/env python3
"""Checks the entry for the index of Octave's packages by the index's rules, and against the archive that it names:

    python3 tests/package/test_index.py FOLDER

FOLDER holds both, as packaging/dist writes them. Exit status: 0, or 1 where a check fails, or 3 where yamllint cannot
be installed here.
"""

import json
import pathlib
import re
import sys
import tarfile
import unittest
from hashlib import sha256

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"
sys.path.insert(0, str(PACKAGING))

from wheels import Refused, Unavailable, installed  # noqa: E402

# yamllint's own rules, and those in which the index differs.
RULES = {
    "extends": "default",
    "rules": {
        "document-start": {"present": True},
        "indentation": {"spaces": 2, "indent-sequences": False},
        "line-length": {"max": 80, "allow-non-breakable-inline-mappings": True},
        "quoted-strings": {"quote-type": "double", "required": True},
    },
}
# Keys of the entry, and of each member of its lists, in the order that the index wants.
KEYS = ["layout", "permalink", "description", "icon", "links", "maintainers", "versions"]
KEYS_OF = {
    "links": ["icon", "label", "url"],
    "maintainers": ["name", "contact"],
    "versions": ["id", "date", "sha256", "url", "depends"],
}
MAY_BE_EMPTY = {"icon", "contact"}
# Fields that Octave's pkg refuses a package without, and License, which its manual asks for, too.
FIELDS = {"Name", "Version", "Date", "Title", "Author", "Maintainer", "Description", "License"}
FILES = {"COPYING", "DESCRIPTION", "INDEX", "NEWS"}


def fields(text):
    """The fields of a DESCRIPTION."""
    return dict(re.findall(r"^(\w+): *(\S.*(?:\n .*)*)", text, re.MULTILINE))


class Index(unittest.TestCase):
    folder = pathlib.Path()

    def setUp(self):
        import yaml

        (self.path,) = self.folder.glob("*.yaml")
        self.text = self.path.read_bytes().decode()
        self.documents = list(yaml.safe_load_all(self.text))
        self.entry = self.documents[0]
        (self.version,) = self.entry["versions"]
        (self.archive,) = self.folder.glob("*.tar.gz")
        self.name = self.archive.name[: -len(".tar.gz")]
        with tarfile.open(self.archive) as archive:
            self.members = archive.getnames()
            self.description = fields(archive.extractfile(f"{self.name}/DESCRIPTION").read().decode())

    def link(self, label):
        (url,) = [link["url"] for link in self.entry["links"] if link["label"] == label]
        return url

    def test_yamllint(self):
        from yamllint import config, linter

        found = linter.run(self.text, config.YamlLintConfig(json.dumps(RULES)))
        self.assertEqual([str(problem) for problem in found], [])

    def test_lines_around(self):
        self.assertEqual((self.text[:4], self.text[-5:]), ("---\n", "\n---\n"))
        self.assertEqual(self.documents[1:], [None])

    def test_keys_stand_in_order(self):
        self.assertEqual(list(self.entry), KEYS)
        for name, keys in KEYS_OF.items():
            for member in self.entry[name]:
                self.assertEqual(list(member), keys, name)

    def test_values_are_strings(self):
        self.assertIsInstance(self.version["depends"], list)
        members = [self.entry, *(member for name in KEYS_OF for member in self.entry[name])]
        for key, value in (pair for member in members for pair in member.items() if pair[0] not in KEYS_OF):
            for text in value if key == "depends" else [value]:
                self.assertTrue(isinstance(text, str) and text or text is None and key in MAY_BE_EMPTY, (key, value))

    def test_name(self):
        self.assertEqual(self.entry["layout"], "package")
        self.assertEqual(self.entry["permalink"], f"{self.path.stem}/")
        self.assertRegex(self.path.stem, "^[a-z-]+$")

    def test_license_is_an_spdx_expression(self):
        labels = [link["label"] for link in self.entry["links"] if link["icon"] == "far fa-copyright"]
        self.assertRegex(" ".join(labels), r"^[\w.+-]+( (OR|AND|WITH) [A-Z][\w.+-]+)*$")

    def test_repository(self):
        repository = self.link("repository")
        if repository == "REPOSITORY":
            self.skipTest("Cargo.toml names no repository yet")
        # The index counts stars there: no branch, and nothing behind the name.
        self.assertRegex(repository, r"^https://(github|gitlab)\.com/[\w.-]+/[\w.-]+$")

    def test_version_and_address_name_the_archive(self):
        number = self.version["id"]
        self.assertRegex(number, r"^\d+\.\d+\.\d+$")
        self.assertEqual(self.name, f"{self.path.stem}-{number}")
        address = f"{self.link('repository')}/releases/download/{number}/{self.archive.name}"
        self.assertEqual(self.version["url"], address)
        self.assertRegex(self.version["date"], r"^\d{4}-\d\d-\d\d$")

    def test_checksum(self):
        self.assertEqual(self.version["sha256"], sha256(self.archive.read_bytes()).hexdigest())

    def test_dependencies(self):
        for dependency in self.version["depends"]:
            self.assertRegex(dependency, r"^[a-z][\w-]*( \((>=|<=|==|>|<) \d+(\.\d+)+\))?$")
        # The index's word for what Octave's pkg can install.
        self.assertIn("pkg", self.version["depends"])

    def test_archive(self):
        self.assertEqual({member.partition("/")[0] for member in self.members}, {self.name})
        self.assertLessEqual({f"{self.name}/{file}" for file in FILES}, set(self.members))

    def test_description_is_complete(self):
        self.assertLessEqual(FIELDS, set(self.description))

    def test_description_agrees(self):
        told = [self.description[field] for field in ("Name", "Version", "Date", "Depends")]
        depends = ", ".join(dependency for dependency in self.version["depends"] if dependency != "pkg")
        self.assertEqual(told, [self.path.stem, self.version["id"], self.version["date"], depends])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Index.folder = pathlib.Path(sys.argv[1])
    try:
        sys.path.insert(0, str(installed(PACKAGING / "yamllint.txt")))
    except Unavailable as error:
        print(f"unavailable: {error}", file=sys.stderr)
        return 3
    except (Refused, OSError) as error:
        print(f"tests/package/test_index.py: {error}", file=sys.stderr)
        return 1
    return not unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
