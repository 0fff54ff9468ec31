import sqlite3

with sqlite3.connect("data.db") as database:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE pairs (name TEXT, number INTEGER)")
    database.executemany("INSERT INTO pairs VALUES (?, ?)", [("a", 1), ("b", 2)])
print(sqlite3.connect("data.db").execute("SELECT * FROM pairs WHERE number > 1").fetchall())
