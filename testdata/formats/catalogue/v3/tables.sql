CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE directories (
  id INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,
  name BLOB NOT NULL,
  mounted INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  UNIQUE (parent, name)
) STRICT;
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  verb TEXT NOT NULL,
  version TEXT NOT NULL,
  read_from TEXT NOT NULL,
  backend TEXT NOT NULL,
  started_s INTEGER NOT NULL,
  latest_s INTEGER NOT NULL,
  state INTEGER NOT NULL,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  all_directories INTEGER NOT NULL,
  all_slices INTEGER NOT NULL,
  all_entries INTEGER NOT NULL,
  all_coverage INTEGER NOT NULL,
  all_events INTEGER NOT NULL,
  sum INTEGER NOT NULL
) STRICT;
CREATE TABLE counts (
  run INTEGER NOT NULL,
  what TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (run, what)
) STRICT, WITHOUT ROWID;
CREATE TABLE coverage (
  directory INTEGER NOT NULL,
  run INTEGER NOT NULL,
  first BLOB NOT NULL,
  last BLOB,
  beneath INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, run, first)
) STRICT, WITHOUT ROWID;
CREATE VIEW paths (directory, path) AS
WITH RECURSIVE chain (id, path) AS (
  SELECT id, '' FROM directories WHERE parent = 0
  UNION ALL
  SELECT d.id, chain.path || CAST(d.name AS TEXT) || '/'
  FROM directories AS d JOIN chain ON d.parent = chain.id
)
SELECT id, path FROM chain;
CREATE TABLE folders (
  directory INTEGER PRIMARY KEY,
  links INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  attributes BLOB,
  mtime_ns ANY NOT NULL,
  ctime_ns ANY NOT NULL,
  sum INTEGER NOT NULL
) STRICT;
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  inode INTEGER NOT NULL,
  length INTEGER NOT NULL,
  mtime_ns ANY NOT NULL,
  ctime_ns ANY NOT NULL,
  algorithm TEXT,
  digest BLOB,
  tagged_s INTEGER,
  tag_length INTEGER,
  tag_mtime_ns ANY,
  state TEXT NOT NULL,
  first_run INTEGER NOT NULL,
  checked_run INTEGER NOT NULL,
  proved_run INTEGER NOT NULL,
  links INTEGER,
  mode INTEGER,
  uid INTEGER,
  gid INTEGER,
  attributes BLOB,
  seen_mtime_ns ANY,
  seen_ctime_ns ANY,
  sum INTEGER NOT NULL
) STRICT;
CREATE INDEX files_by_inode ON files (inode);
CREATE INDEX files_by_digest ON files (substr(digest, 1, 8)) WHERE digest IS NOT NULL;
CREATE TABLE names (
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  file INTEGER NOT NULL,
  PRIMARY KEY (directory, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX names_by_file ON names (file);
CREATE TABLE slices (
  directory INTEGER NOT NULL,
  first BLOB NOT NULL,
  entries INTEGER NOT NULL,
  tagged INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  apart INTEGER NOT NULL,
  checked_run INTEGER NOT NULL,
  seal BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  file INTEGER NOT NULL,
  run INTEGER NOT NULL,
  number INTEGER NOT NULL,
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  at_s INTEGER NOT NULL,
  what TEXT NOT NULL,
  state TEXT NOT NULL,
  algorithm TEXT,
  digest BLOB,
  tagged_s INTEGER,
  tag_length INTEGER,
  tag_mtime_ns ANY,
  other BLOB,
  sum INTEGER NOT NULL,
  PRIMARY KEY (file, run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_name ON events (directory, name, run, number);
CREATE INDEX events_by_run ON events (run, what);
