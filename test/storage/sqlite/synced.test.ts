/** Tests what a power failure reverts: never what was synced to the disk, nor anything before that. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkRemoval, prepareBatch } from '../../../src/storage/check-series.ts'
import { openWriter } from '../../../src/storage/sqlite/database.ts'
import { packSeriesJobs, type SeriesJob } from '../../../src/storage/sqlite/series-jobs.ts'
import { temporaryFolder } from './sqlite-medium.ts'

const FULL = 2
const NORMAL = 1

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a connection that does not wait for the disk', () => {
  it('waits for it in a synced transaction alone, whatever becomes of that', () => {
    const db = openWriter(join(folder, 'series.db'), { synchronous: 'NORMAL', cacheMb: 1, checkpointPages: 1000 })
    const level = () => db.row<[number]>('PRAGMA synchronous')?.[0]
    const levels = [level(), db.syncedTransaction(level), level(), db.transaction(level)]
    expect(() =>
      db.syncedTransaction(() => {
        throw new Error('no')
      }),
    ).toThrow('no')
    expect([...levels, level()]).toEqual([NORMAL, FULL, NORMAL, NORMAL, NORMAL])
    db.close()
  })
})

describe('what the writer of series is handed', () => {
  const samples = [{ resource: 'r', metric: 'm', time: 1, value: 1 }]
  const append = (synced?: boolean): SeriesJob => {
    return { kind: 'append', tenant: 't', ...prepareBatch({ samples, ...(synced !== undefined && { synced }) }) }
  }
  const remove = (synced?: boolean): SeriesJob => {
    return { kind: 'remove', tenant: 't', ...checkRemoval({ resource: 'r', ...(synced !== undefined && { synced }) }) }
  }

  it.each<[string, readonly SeriesJob[], readonly boolean[]]>([
    ['appends alone', [append(), append(false)], [false]],
    ['one of several appends', [append(), append(true), append()], [true]],
    ['a removal', [append(), remove(true), append()], [false, true, false]],
    ['no removal', [remove(), remove(false)], [false, false]],
  ])('is to be synced: %s', (_what, jobs, expected) => {
    const { wire } = packSeriesJobs(jobs)
    expect(wire.map((one) => one.kind !== 'expire' && one.synced)).toEqual(expected)
  })
})
