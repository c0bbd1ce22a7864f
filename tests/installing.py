"""A package as an installer leaves it: its module, and a folder that says its name and its entry points.

Nothing is built and nothing downloaded, so that it works wherever the tests do.
"""

import shutil
import tomllib
from pathlib import Path

PLUGIN = Path(__file__).parent / "plugin_example"


def install(source: Path, site: Path) -> Path:
    """Put the modules of a project, and what its pyproject.toml says, into a folder for the path."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    for module in source.glob("*.py"):
        shutil.copy(module, site)
    return describe(site, project["name"], project["version"], project["entry-points"])


def describe(site: Path, name: str, version: str, groups: dict[str, dict[str, str]]) -> Path:
    """Say in a folder for the path which package is there, and with which entry points."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{point} = {value}" for point, value in points.items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder
