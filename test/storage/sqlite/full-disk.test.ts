/** Tests that a full disk is a temporary outage: what could not be written may be written later. */
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { notWritten, writeError } from '../../../src/storage/sqlite/failure.ts'

/** Returns the error that SQLite throws for these statements. */
function thrownBy(...statements: readonly string[]): unknown {
  const db = new DatabaseSync(':memory:')
  try {
    for (const statement of statements) db.exec(statement)
  } catch (error) {
    return error
  } finally {
    db.close()
  }
  throw new Error('nothing was thrown')
}

it('is UNAVAILABLE, and states what to do', () => {
  const thrown = thrownBy('PRAGMA max_page_count = 2', 'CREATE TABLE a (x)', 'CREATE TABLE b (x)')
  expect(writeError(notWritten(thrown))).toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The store could not write: database or disk is full; free some space',
  })
})

it('is distinguished from what would fail again', () => {
  const thrown = thrownBy('CREATE TABLE a (x CHECK (x > 1))', 'INSERT INTO a VALUES (0)')
  expect(writeError(notWritten(thrown))).toMatchObject({
    code: 'STORE',
    message: 'The store could not write: CHECK constraint failed: x > 1',
  })
})
