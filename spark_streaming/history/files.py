"""The files of one history, wherever Spark's master can see them: through Hadoop's file systems.

All rests on one promise of the file system: that a file or a directory gets its name in one step.
A local disk and HDFS keep it; a store of objects, where a rename is a copy, does not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from spark_streaming.history.layout import (
    DONE,
    DRAFTS,
    BadHistory,
    DirectoryListing,
    Manifest,
    read_manifest,
)

# What is done is looked for before its pieces: one that is done meanwhile is then left out whole.
_LOOKED_FOR = (f"batches/*/*/{DONE}", "batches/*/*/day=*", "days/*/*")
LOOKS_MOST = 5
"""In vain only where a compaction ends during each of them; there is one a day."""


class Files:
    """Lists, reads, makes and removes below one directory; paths are relative to it."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        context: Any = spark.sparkContext
        self._jvm: Any = context._jvm  # Hadoop's files have no other way from Python
        self._conf: Any = context._jsc.hadoopConfiguration()
        path = self._jvm.org.apache.hadoop.fs.Path(root.rstrip("/") or "/")
        self._fs: Any = path.getFileSystem(self._conf)
        self.root = str(self._fs.makeQualified(path).toString())

    def place(self, path: str) -> str:
        """The path with the directory's root before it."""
        return f"{self.root}/{path}"

    def look(self) -> tuple[Manifest, DirectoryListing]:
        """The manifest that counts, and what lies beside it.

        What a manifest does not need is removed by the one after the next. Were two made during one
        look, files would be missing from it that its manifest counts on, so it is taken again.
        """
        for _ in range(LOOKS_MOST):
            numbers = self._manifests()
            manifest = self.manifest(numbers[-1]) if numbers else Manifest()
            others = [path for pattern in _LOOKED_FOR for path in self._list(pattern)]
            if self._manifests() == numbers:
                return manifest, DirectoryListing.of(
                    [*(Manifest(one).path for one in numbers), *others]
                )
        raise BadHistory(
            f"{self.root} was compacted again and again while it was looked at; let one"
            " `turbine history compact` run a day"
        )

    def manifest(self, number: int) -> Manifest:
        """The manifest of that number, which has to be there."""
        path = Manifest(number).path
        found = read_manifest(self._read(path), self.place(path))
        if found.number != number:
            raise BadHistory(
                f"{self.place(path)} says that it is number {found.number}; restore it"
            )
        return found

    def exists(self, path: str) -> bool:
        """Whether a file or directory has this path."""
        return bool(self._fs.exists(self._path(path)))

    def make_once(self, path: str, text: str, attempt: str) -> bool:
        """A file in one piece, under its name all at once or not at all; False where there is one
        of the name already."""
        draft = f"{path}.{attempt}"
        out = self._fs.create(self._path(draft), True)
        out.write(bytearray(text.encode()))
        out.close()
        made = self._name(draft, path)
        self.remove(draft)
        return made

    def adopt(self, draft: str, path: str) -> bool:
        """Gives a directory that is whole its name; False where there is one of the name already,
        and then the draft goes."""
        if not self.exists(path) and self._fs.rename(self._path(draft), self._path(path)):
            # Where another was faster, file systems move it into that one, and nobody looks there.
            nested = f"{path}/{draft.rpartition('/')[2]}"
            if not self.exists(nested):
                return True
            self.remove(nested)
        self.remove(draft)
        return False

    def clear_drafts(self) -> None:
        """Removes what attempts at batches have left that did not come to their end."""
        for path in self._list(f"{DRAFTS.format('*')}*"):
            self.remove(path)

    def remove(self, path: str) -> None:
        """A file or a directory with all that is in it; nothing where there is none."""
        self._fs.delete(self._path(path), True)

    def lineage(self) -> str:
        """The name of the stream, which Spark has given to its checkpoint."""
        plain = json.loads(self._read("checkpoint/metadata"))
        assert isinstance(plain, Mapping), "Spark's own file"
        return str(plain["id"])

    def _manifests(self) -> tuple[int, ...]:
        return DirectoryListing.of(self._list("manifests/*.json")).manifests

    def _name(self, draft: str, path: str) -> bool:
        """The local disk would rename onto a file that is there, and Hadoop's look before it is a
        step of its own; a second name of a file is given once, or refused."""
        if self.root.startswith("file:"):
            place = Path(self.root.removeprefix("file:"))
            try:
                os.link(place / draft, place / path)
            except FileExistsError:
                return False
            return True
        return not self.exists(path) and bool(self._fs.rename(self._path(draft), self._path(path)))

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.place(path))

    def _list(self, pattern: str) -> list[str]:
        found = self._fs.globStatus(self._path(pattern))
        if not found:
            return []
        # All names in one call: a call for each takes seconds of a day's batches.
        paths = self._jvm.org.apache.hadoop.fs.FileUtil.stat2Paths(found)
        text: str = self._jvm.scala.Predef.genericWrapArray(paths).mkString("\n")
        return [one.removeprefix(f"{self.root}/") for one in text.split("\n")]

    def _read(self, path: str) -> str:
        source = self._fs.open(self._path(path))
        try:
            text: str = self._jvm.org.apache.commons.io.IOUtils.toString(source, "UTF-8")
        finally:
            source.close()
        return text
