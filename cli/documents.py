"""JSON documents that a command is given beside its data: read whole, from a file or from stdin."""

import sys
from pathlib import Path

from ledger.core.json_reader import Malformed, read_json
from ledger.errors import InputError, ManifestError

STDIN = Path("-")


def read_document(file: Path, error_type: type[InputError] = ManifestError) -> bytes:
    """Read a JSON object, and return its bytes as they are.

    Raises:
        InputError: of the type given, where it cannot be read or is no JSON object; it names line and column.
    """
    try:
        body = sys.stdin.buffer.read() if file == STDIN else file.read_bytes()
    except OSError as error:
        raise error_type(f"{file}: cannot be read: {error.strerror or error}; check the file") from error
    document = read_json(body)
    if isinstance(document, Malformed):
        before = body[: document.offset]
        line, column = before.count(b"\n") + 1, document.offset - before.rfind(b"\n")
        where = f"{file}:{line}:{column}"
        raise error_type(f"{where}: expected a JSON object, found {document.reason.replace('_', ' ')}")
    if not isinstance(document.value, dict):
        raise error_type(f"{file}: expected a JSON object, found another JSON value")
    return body
