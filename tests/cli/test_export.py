"""``export``: out of one ledger and into another, and nothing is lost, overwritten or put elsewhere."""

import errno
import io
import os
from pathlib import Path

import pytest

from cli.commands import export
from cli.commands.export import FILE_ENDINGS
from ledger.exchange.packing import Packing, packing_of, unpack
from tests.cli.running import call, run
from tests.cli.transcripts import TRANSCRIPTS, header_of, raw, said, start, state, whole, write

IDS = [header_of(path)["run_id"] for path in TRANSCRIPTS]


def test_export_then_import_into_another_ledger_gives_the_same_decision(
    samples: Path, tmp_path: Path
) -> None:
    out, other = tmp_path / "out", tmp_path / "other.db"
    assert call("-l", samples, "export", *IDS, f"{out}/").status == 0
    assert sorted(path.name for path in out.iterdir()) == sorted(f"{run_id}.jsonl" for run_id in IDS)
    assert call("-l", other, "import", out).status == 0
    for run_id in IDS:
        for words in (("show", run_id, "-o", "json"), ("log", run_id, "-o", "jsonl")):
            assert call("-l", other, *words).raw == call("-l", samples, *words).raw


def test_stdout_gets_the_transcript_alone(samples: Path, tmp_path: Path) -> None:
    done = run("-l", samples, "export", "run_ical-1", "-")
    assert (done.status, done.err) == (0, "")
    call("-l", samples, "export", "run_ical-1", tmp_path / "run.jsonl")
    assert (tmp_path / "run.jsonl").read_bytes() == done.raw
    assert header_of(tmp_path / "run.jsonl")["run_id"] == "run_ical-1"


def test_without_a_destination_the_file_lands_in_this_folder(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("-l", samples, "export", "@latest")
    assert (done.status, done.out) == (0, "")
    assert "run_chatter_0418.jsonl" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["run_chatter_0418.jsonl"]


def test_a_folder_that_is_there_is_a_destination_without_a_slash(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    call("-l", samples, "export", "@1", "@2", tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_a_run_named_twice_is_written_once(samples: Path, tmp_path: Path) -> None:
    assert call("-l", samples, "export", "@1", "run_chatter_0418", f"{tmp_path}/").status == 0
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_is_there_is_left_alone_unless_forced(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("precious")
    done = call("-l", samples, "export", "@latest", path)
    assert done.status == 2
    assert "--force" in done.err
    assert path.read_text() == "precious"
    assert call("-l", samples, "export", "@latest", path, "--force").status == 0
    assert header_of(path)["run_id"] == "run_chatter_0418"
    assert [one.name for one in tmp_path.iterdir()] == ["run.jsonl"]


def test_where_one_of_several_is_there_nothing_is_written(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "run_ical-1.jsonl").write_text("precious")
    assert call("-l", samples, "export", "@latest", "run_ical-1", f"{tmp_path}/").status == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run_ical-1.jsonl"]


@pytest.mark.parametrize("dest", ["-", "one.jsonl"])
def test_several_runs_do_not_fit_into_one_file(samples: Path, tmp_path: Path, dest: str) -> None:
    into = dest if dest == "-" else str(tmp_path / dest)
    done = call("-l", samples, "export", "@1", "@2", into)
    assert (done.status, done.out) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_run_among_several_writes_nothing(samples: Path, tmp_path: Path) -> None:
    assert call("-l", samples, "export", "@1", "nobody", f"{tmp_path}/").status == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "run_id",
    [
        "../../x",
        "a/b",
        "/etc/x",
        "..",
        ".",
        ".hidden",
        "-rf",
        "a\nb",
        "a\x1bb",
        "x" * 3000,
        "ü",
        "C:\\x",
        "~",
    ],
    ids=lambda text: ascii(text)[:12],
)
def test_a_run_id_never_leads_out_of_the_folder(tmp_path: Path, run_id: str) -> None:
    ledger, out = tmp_path / "ledger.db", tmp_path / "deep" / "out"
    done = call("-l", ledger, "import", whole(tmp_path / "in.jsonl", state("contacts"), run_id=run_id))
    assert done.status == 0, done.err
    done = call("-l", ledger, "export", "@latest", f"{out}/")
    assert done.status == 0, done.err
    files = (path for path in tmp_path.rglob("*") if path.is_file() and "ledger.db" not in path.name)
    (written,) = (path for path in files if path.name != "in.jsonl")
    assert written.parent == out
    assert written.name[0] not in ".-"
    assert written.name.isascii()
    assert call("-l", ledger, "import", written, "-o", "json").json[0]["outcome"] == "unchanged"


def test_two_runs_whose_files_would_be_one_are_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    for number, run_id in enumerate(("a/b", "a:b")):
        call("-l", ledger, "import", whole(tmp_path / f"{number}.jsonl", run_id=run_id))
    done = call("-l", ledger, "export", "a/b", "a:b", f"{tmp_path / 'out'}/")
    assert done.status == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ending", [".jsonl.gz", ".gz", ".jsonl.zst", ".zst"])
def test_a_name_that_says_so_is_packed_and_the_same_each_time(
    samples: Path, tmp_path: Path, ending: str
) -> None:
    call("-l", samples, "export", "run_ical-1", tmp_path / "run.jsonl")
    plain = (tmp_path / "run.jsonl").read_bytes()
    paths = [tmp_path / f"{name}{ending}" for name in ("one", "two")]
    for path in paths:
        assert call("-l", samples, "export", "run_ical-1", path).status == 0
    one, two = (path.read_bytes() for path in paths)
    assert one == two
    packing = packing_of(one)
    assert packing is (Packing.GZIP if ending.endswith("gz") else Packing.ZSTD)
    assert b"".join(iter(unpack(io.BytesIO(one), "").read, b"")) == plain
    assert call("-l", samples, "export", "run_ical-1", paths[0]).status == 2
    done = call("-l", tmp_path / "l.db", "import", *paths, "-o", "json")
    assert [row["outcome"] for row in done.json] == ["imported", "unchanged"]


def test_a_packed_file_that_cannot_be_finished_is_not_there(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(export, "_export", fail)
    for ending in FILE_ENDINGS:
        done = call("-l", samples, "export", "@latest", tmp_path / f"run{ending}")
        assert (done.status, done.out) == (3, "")
        assert "No space left" in done.err
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_text_goes_out_and_comes_in_again(tmp_path: Path) -> None:
    lines = [*start(), *raw(b"\xff\x00\x1b[31m"), *raw(b"\r"), *said({"type": "\u2028\u202e"})]
    call("-l", tmp_path / "a.db", "import", write(tmp_path / "in.jsonl", *lines))
    call("-l", tmp_path / "a.db", "export", "@latest", tmp_path / "out.jsonl")
    assert call("-l", tmp_path / "b.db", "import", tmp_path / "out.jsonl").status == 0
    words = ("log", "@latest", "--raw")
    assert run("-l", tmp_path / "a.db", *words).raw == run("-l", tmp_path / "b.db", *words).raw


def test_a_destination_that_cannot_be_written_is_said(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = call("-l", samples, "export", "@latest", f"{tmp_path}/file/x.jsonl")
    assert (done.status, done.out) == (3, "")
    assert "x.jsonl" in done.err


def test_what_was_written_is_data_where_data_is_asked_for(samples: Path, tmp_path: Path) -> None:
    done = call("-l", samples, "export", "run_chatter_0412", tmp_path, "-o", "json")
    path = tmp_path / "run_chatter_0412.jsonl"
    (row,) = done.json
    assert (row["run_id"], row["file"]) == ("run_chatter_0412", str(path))
    assert row["entries"] == len(call("-l", samples, "log", "run_chatter_0412", "-o", "jsonl").lines)
