#!/usr/bin/env python3
"""The components of the release products, as SPDX 2.3 in JSON.

Usage: components.py VERSION VERSIONS_FILE
VERSIONS_FILE: lines SOURCE=VERSION of Debian's source packages (scripts/release/dependencies.sh).
"""

import datetime
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Debian's source package: its licence, and which products contain it.
LINKED = {
    "abseil": ("Apache-2.0", "libjtrace.so, jtrace, jtrace-post"),
    "protobuf": ("BSD-3-Clause", "libjtrace.so, jtrace-post"),
    "zydis": ("MIT", "libjtrace.so"),
    "zycore-c": ("MIT", "libjtrace.so"),
    "libzstd": ("BSD-3-Clause", "libjtrace.so, jtrace-post"),
    "zlib": ("Zlib", "libjtrace.so, jtrace-post"),
    "nlohmann-json3": ("MIT", "jtrace, jtrace-post"),
    "boost1.74": ("BSL-1.0", "jtrace"),
    "gcc-12": ("GPL-3.0-or-later WITH GCC-exception-3.1", "libjtrace.so, jtrace, jtrace-post"),
}
# What the HTML page contains, of postproc/web/package.json.
OF_PAGE = {"preact": "MIT"}


def package(name, version, license_id, supplier, comment, purl=None):
    entry = {
        "SPDXID": f"SPDXRef-{name}",
        "name": name,
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": license_id,
        "licenseDeclared": license_id,
        "copyrightText": "NOASSERTION",
        "comment": comment,
    }
    if purl:
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        entry["externalRefs"] = [reference]
    return entry


def packages(version, lines):
    yield package("jtrace", version, "Apache-2.0", "Organization: jtrace developers", "the products")
    for line in lines:
        name, _, number = line.partition("=")
        license_id, products = LINKED[name]
        yield package(name, number, license_id, "Organization: Debian", f"linked into {products}",
                      f"pkg:deb/debian/{name}@{number}?arch=source")
    dependencies = json.loads((ROOT / "postproc/web/package.json").read_text())["devDependencies"]
    for name, license_id in OF_PAGE.items():
        yield package(name, dependencies[name], license_id, "NOASSERTION", "in the page that jtrace-post writes",
                      f"pkg:npm/{name}@{dependencies[name]}")


def main():
    version, versions_file = sys.argv[1:]
    lines = sorted(set(pathlib.Path(versions_file).read_text().split()))
    missing = set(LINKED) - {line.partition("=")[0] for line in lines}
    if missing:
        sys.exit(f"components: {versions_file} lacks {', '.join(sorted(missing))}")
    entries = list(packages(version, lines))
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-jtrace"}]
    relations += [{"spdxElementId": "SPDXRef-jtrace", "relationshipType": "CONTAINS",
                   "relatedSpdxElement": entry["SPDXID"]} for entry in entries[1:]]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"jtrace-{version}",
        "documentNamespace": f"urn:jtrace:spdx:{version}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Organization: jtrace developers"]},
        "packages": entries,
        "relationships": relations,
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
