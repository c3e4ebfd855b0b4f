/** One host at a time serves a store: the second one does not start, and says whose the store is. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/host/config.ts'
import { startHost, type RunningHost } from '../../src/host/running-host.ts'
import { describeWithPostgres, type PostgresServer } from '../support/postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-one-host-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function start(store: string, data: string): Promise<RunningHost> {
  const given = { port: 0, store, data: join(folder, data), key: 'k', secret: 's' }
  return startHost(readConfig(given, {}, ['alarms']), { write: () => undefined }, { hashCost: 2 })
}

describe('one data folder', () => {
  it('has one host', async () => {
    const first = await start('sqlite:', 'shared')
    const said = { code: 'STORE', message: expect.stringContaining('is in use by another process') as unknown }
    await expect(start('sqlite:', 'shared')).rejects.toMatchObject(said)
    await first.stop()
  })
})

describeWithPostgres('one PostgreSQL', (startServer) => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it('has one host, whatever the data folders are', async () => {
    const first = await start(server.url, 'one')
    const said = { code: 'STORE', message: expect.stringContaining('is held by another host: reflexarc ') as unknown }
    await expect(start(server.url, 'two')).rejects.toMatchObject(said)
    await first.stop()
    const second = await start(server.url, 'two')
    await second.stop()
  })
})
