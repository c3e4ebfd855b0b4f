import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { Database } from '../../../src/storage/postgres/database.ts'
import { Lane } from '../../../src/storage/postgres/lane.ts'
import { openSchema } from '../../../src/storage/postgres/open.ts'
import { cuttableWay, describeWithPostgres } from '../../support/postgres-server.ts'
import type { CuttableWay, PostgresServer } from '../../support/postgres-server.ts'
import { until } from '../../support/until.ts'

const schema = 'lanes'
const isCommit = (bytes: Buffer): boolean => bytes.includes('commit\0')

describeWithPostgres('a lane', (start) => {
  let server: PostgresServer
  let watcher: Database
  let way: CuttableWay
  let database: Database
  let lane: Lane

  beforeAll(async () => {
    server = await start()
    watcher = new Database({ url: server.url, schema, patience: 5_000 })
    await openSchema(watcher)
    await watcher.query({ text: 'create table facts (name text primary key)' })
  })
  afterAll(async () => {
    await watcher.close()
    await server.stop()
  })
  beforeEach(async () => {
    way = await cuttableWay(server)
    database = new Database({ url: way.url, schema, patience: 5_000 })
    lane = new Lane(database)
  })
  afterEach(async () => {
    way.watch(undefined)
    way.mend()
    await lane.close()
    await database.close()
    await way.close()
  })

  const insert = (name: string) => ({ text: 'insert into facts values ($1)', values: [name] })
  const write = async (name: string, on = lane): Promise<string> =>
    await on.run(async () => ({ statements: [insert(name)], result: 'done' }))
  const facts = async (prefix: string): Promise<readonly string[]> => {
    const text = 'select name from facts where name like $1 order by name'
    return (await watcher.read<{ name: string }>({ text, values: [`${prefix}%`] })).map(({ name }) => name)
  }
  /** Returns the `type` of the only issue in the error. */
  const fateOf = async (work: Promise<unknown>): Promise<unknown> => {
    try {
      await work
    } catch (error) {
      return error instanceof AppError ? [error.code, ...error.issues.map((issue) => issue.type)] : error
    }
    return 'nothing was thrown'
  }

  it('has committed what it answers', async () => {
    expect(await write('plain 1')).toBe('done')
    expect(await write('plain 2')).toBe('done')
    expect(await facts('plain')).toEqual(['plain 1', 'plain 2'])
  })

  it('writes all or nothing, and continues after a rejection', async () => {
    const bad = lane.run(async () => ({
      statements: [insert('whole 1'), { text: 'select 1/0' }, insert('whole 2')],
      result: 0,
    }))
    expect(await fateOf(bad)).toEqual(['STORE', 'NOT_WRITTEN'])
    expect(
      await fateOf(lane.run(async (look) => ({ statements: [], result: await look({ text: 'select nonsense' }) }))),
    ).toEqual(['STORE', 'NOT_WRITTEN'])
    await write('whole 3')
    expect(await facts('whole')).toEqual(['whole 3'])
  })

  it('begins again when another one made the same key in between', async () => {
    const seen: number[] = []
    await lane.run(async (look) => {
      const { count } = await look({ text: `select from facts where name = 'race'` })
      seen.push(count)
      if (count === 0) await watcher.query({ text: `insert into facts values ('race')` })
      return { statements: count === 0 ? [insert('race')] : [insert('race lost')], result: 0 }
    })
    expect(seen).toEqual([0, 1])
    expect(await facts('race')).toEqual(['race', 'race lost'])
  })

  it('takes a new connection when the old one died while it was idle', async () => {
    await write('idle 1')
    way.cut()
    way.mend()
    await write('idle 2')
    expect(await facts('idle')).toEqual(['idle 1', 'idle 2'])
  })

  it('PGLANE-3: what was cut off before its commit was sent is NOT_WRITTEN', async () => {
    const impatient = new Database({ url: way.url, schema, patience: 50 })
    const hasty = new Lane(impatient)
    await write('early 1', hasty)
    const cut = hasty.run(async () => {
      way.cut()
      return { statements: [insert('early 2')], result: 0 }
    })
    expect(await fateOf(cut)).toEqual(['UNAVAILABLE', 'NOT_WRITTEN'])
    way.mend()
    await hasty.close()
    await impatient.close()
    await write('early 3')
    expect(await facts('early')).toEqual(['early 1', 'early 3'])
  })

  it('PGLANE-1: a commit whose answer is lost is found out, and done once', async () => {
    await write('answer 1')
    way.watch((bytes) => {
      if (isCommit(bytes)) way.muffle()
      return false
    })
    const writing = write('answer 2')
    await until(async () => (await facts('answer')).length === 2)
    way.watch(undefined)
    way.cut()
    way.mend()
    expect(await writing).toBe('done')
    expect(await facts('answer')).toEqual(['answer 1', 'answer 2'])
  })

  it('PGLANE-1: a commit that never arrived is found out, and done again', async () => {
    await write('question 1')
    way.watch((bytes) => {
      if (!isCommit(bytes)) return false
      way.watch(undefined)
      setImmediate(() => way.mend())
      return true
    })
    expect(await write('question 2')).toBe('done')
    expect(await facts('question')).toEqual(['question 1', 'question 2'])
  })

  it('PGLANE-1: a commit whose outcome cannot be asked is UNKNOWN_OUTCOME, never done', async () => {
    const impatient = new Database({ url: way.url, schema, patience: 50 })
    const hasty = new Lane(impatient)
    await write('unknown 1', hasty)
    way.watch((bytes) => {
      if (isCommit(bytes)) way.muffle()
      return false
    })
    const writing = fateOf(write('unknown 2', hasty))
    await until(async () => (await facts('unknown')).length === 2)
    way.cut()
    expect(await writing).toEqual(['UNAVAILABLE', 'UNKNOWN_OUTCOME'])
    way.watch(undefined)
    way.mend()
    await write('unknown 3', hasty)
    await hasty.close()
    await impatient.close()
  })

  it('PGLANE-2: a transaction that was left hanging is ended before its outcome is asked', async () => {
    await write('hanging 1')
    // The server receives the writes, but neither the commit nor the end of the connection
    let tries = 0
    const result = await lane.run(async (look) => {
      await look(insert('hanging 2'))
      tries += 1
      if (tries === 1) way.strand()
      return { statements: [insert('hanging 3')], result: 'done' }
    })
    expect([result, tries]).toEqual(['done', 2])
    // ended by our command, not by a timeout of the server
    await until(() => way.saidToStranded() !== '')
    expect(way.saidToStranded()).toContain('due to administrator command')
    expect(await facts('hanging')).toEqual(['hanging 1', 'hanging 2', 'hanging 3'])
  })

  it('waits for a server that fell until it is back', async () => {
    const patient = new Database({ url: way.url, schema, patience: 240_000 })
    const waiting = new Lane(patient)
    await write('fall 1', waiting)
    await server.crash()
    const writing = write('fall 2', waiting)
    const reading = patient.read({ text: 'select 1 as one' })
    await server.start()
    expect([await writing, await reading]).toEqual(['done', [{ one: 1 }]])
    await write('fall 3', waiting)
    expect(await facts('fall')).toEqual(['fall 1', 'fall 2', 'fall 3'])
    await waiting.close()
    await patient.close()
  })
})
