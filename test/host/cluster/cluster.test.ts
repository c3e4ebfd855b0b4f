/** Tests what clients of either host see when two hosts of a cluster run in one process over one PostgreSQL. */
import { once } from 'node:events'
import { connect as connectTo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scheduler } from 'node:timers/promises'
import { connectAsync, type MqttClient } from 'mqtt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ApiKeys, KEY_RECORDS } from '../../../src/host/auth/api-keys.ts'
import { Tokens } from '../../../src/host/auth/tokens.ts'
import { tokenKey } from '../../../src/host/data-folder.ts'
import { HOST_TENANT } from '../../../src/host/auth/host-tenant.ts'
import { viewCluster } from '../../../src/cluster/placement/cluster-view.ts'
import { runCluster } from '../../../src/cli/cluster.ts'
import { runKeys } from '../../../src/cli/keys.ts'
import { readConfig, type Given } from '../../../src/host/config.ts'
import { startHost, type RunningHost } from '../../../src/host/running-host.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import type { AppError } from '../../../src/kernel/errors.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { takeFence } from '../../../src/storage/fence-store.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { Database } from '../../../src/storage/postgres/database.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { basic } from '../sample-host.ts'

const TENANTS = Array.from({ length: 12 }, (_, n) => `tenant-${n}`)

describeWithPostgres('two hosts of a cluster', (startServer) => {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-two-'))
  let server: PostgresServer
  let storage: Storage
  let hosts: readonly [RunningHost, RunningHost]
  /** Tenant of the first host, and tenant of the second */
  let mine: string
  let theirs: string

  const configOf = (name: string, given: Given = {}) => {
    const shared = { store: server.url, blobs: join(folder, 'objects'), cluster: true, functions: 'off' }
    const own = {
      port: 0,
      mqtt: 0,
      data: join(folder, name),
      key: 'root',
      secret: 's',
      tenant: 'root',
      logLevel: 'silent',
    }
    return readConfig({ ...shared, ...own, ...given }, {}, [...SERVICES.keys()])
  }
  const start = (name: string, given?: Given) => startHost(configOf(name, given), { write: () => undefined })
  const ask = async (host: RunningHost, tenant: string, path: string, body?: object): Promise<Response> =>
    fetch(host.url + path, {
      headers: { authorization: basic(tenant, 's'), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  /** Whether a host answers for a tenant without forwarding. */
  const answersItself = async (host: RunningHost, tenant: string): Promise<boolean> => {
    const answer = await ask(host, tenant, '/')
    await answer.text()
    return answer.ok && !answer.headers.has('reflexarc-owner')
  }
  const failureOf = (work: Promise<unknown>): Promise<AppError> =>
    work.then(
      () => expect.fail('it should have been refused'),
      (error: unknown) => error as AppError,
    )

  beforeAll(async () => {
    server = await startServer()
    storage = await openPostgres({ url: server.url, blobs: openMemoryBlobs() })
    const keys = new ApiKeys(storage.tenant(HOST_TENANT).collection(KEY_RECORDS), Date.now, 2)
    for (const tenant of TENANTS) await keys.add({ key: tenant, secret: 's', tenant })
    const first = await start('one')
    hosts = [first, await start('two')]
    // wait until half of the slots have moved to the second host
    const shares = async () => (await viewCluster(storage.tenant(HOST_TENANT))).hosts.map(({ slots }) => slots)
    while ((await shares()).join() !== '128,128') await scheduler.wait(50)
    const atFirst = await Promise.all(TENANTS.map((tenant) => answersItself(first, tenant)))
    mine = TENANTS[atFirst.indexOf(true)] ?? ''
    theirs = TENANTS[atFirst.indexOf(false)] ?? ''
  })
  afterAll(async () => {
    for (const host of hosts) await host.stop()
    await storage.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('tokens created from the data folder of one host are valid on both', async () => {
    for (const name of ['one', 'two']) {
      const order = { tenant: theirs, subject: 'me', lifetime: 60 }
      const authorization = `Bearer ${await new Tokens(tokenKey(join(folder, name)), Date.now).issue(order)}`
      const answers = await Promise.all(hosts.map(({ url }) => fetch(`${url}/`, { headers: { authorization } })))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    }
  })

  it('a key created or removed on the command line takes effect on each host within seconds', async () => {
    const lines: string[] = []
    const terminal = { out: (line: string) => void lines.push(line) }
    const flags = { store: server.url, json: true }
    await runKeys({ do: 'add' }, { ...flags, tenant: theirs }, {}, terminal, Date.now)
    const pair = JSON.parse(lines.at(-1) ?? '') as { key: string; secret: string }
    const authorization = basic(pair.key, pair.secret)
    const statuses = async (): Promise<readonly number[]> => {
      const answers = hosts.map(({ url }) => fetch(`${url}/resources/boiler/messages`, { headers: { authorization } }))
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    expect(await statuses()).toEqual([200, 200])
    await runKeys({ do: 'remove', key: pair.key }, flags, {}, terminal, Date.now)
    await expect.poll(statuses, { timeout: 10_000 }).toEqual([401, 401])
  })

  it('wrong credentials are rejected by any host, and addresses cannot lead elsewhere', async () => {
    expect((await ask(hosts[0], 'nobody', '/')).status).toBe(401)
    expect((await ask(hosts[0], theirs, '//127.0.0.1:1/elsewhere')).status).toBe(404)
  })

  it('a WebSocket on one host delivers messages posted on the other, and vice versa', async () => {
    const open = async (host: RunningHost, path: string): Promise<WebSocket> => {
      const headers = { authorization: basic(theirs, 's') }
      const socket = new WebSocket(host.url.replace('http', 'ws') + path, { headers })
      await once(socket, 'open')
      return socket
    }
    for (const [reading, posting] of [hosts, hosts.toReversed()] as [RunningHost, RunningHost][]) {
      const reader = await open(reading, '/resources/tank/events/subscribe')
      const poster = await open(posting, '/resources/tank/events/publish')
      const told = once(reader, 'message')
      poster.send('{"level":3}')
      expect(String((await told)[0])).toContain('"level"')
      for (const socket of [reader, poster]) {
        socket.close()
        await once(socket, 'close')
      }
    }
  })

  it('an MQTT client is connected to the host of its tenant through any host, and is unique in the cluster', async () => {
    const connect = (host: RunningHost, clientId: string): Promise<MqttClient> =>
      connectAsync(host.also[0] ?? '', {
        username: theirs,
        password: 's',
        clientId,
        protocolVersion: 5,
        reconnectPeriod: 0,
      })
    const next = (client: MqttClient, event: 'message' | 'disconnect'): Promise<readonly unknown[]> =>
      new Promise((resolve) => client.once(event, (...given: readonly unknown[]) => resolve(given)))
    const [reader, poster] = await Promise.all([connect(hosts[0], 'reader'), connect(hosts[1], 'poster')])
    const told = next(reader, 'message')
    await reader.subscribeAsync('resources/valve/events', { qos: 1 })
    await poster.publishAsync('resources/valve/events', '{"open":1}', { qos: 1 })
    expect(String((await told)[1])).toContain('"open":1')
    // the other direction, over HTTP
    const back = next(poster, 'message')
    await poster.subscribeAsync('resources/pipe/events')
    await reader.publishAsync('resources/pipe/events', '{"flow":2}', { qos: 2 })
    expect(String((await back)[1])).toContain('"flow":2')
    expect(await (await ask(hosts[0], theirs, '/resources/pipe/messages')).json()).toMatchObject([{ flow: 2 }])

    const takenOver = next(reader, 'disconnect')
    const other = await connect(hosts[1], 'reader')
    expect((await takenOver)[0]).toMatchObject({ reasonCode: 0x8e })
    for (const client of [reader, poster, other]) await client.endAsync()
    const wrong = connectAsync(hosts[0].also[0] ?? '', { username: theirs, password: 'x', reconnectPeriod: 0 })
    await expect(wrong).rejects.toMatchObject({ code: 4 })
  })

  it('only a host introduces a client over MQTT', async () => {
    const { port } = new URL(hosts[0].also[0] ?? '')
    const socket = connectTo(Number(port), '127.0.0.1')
    socket.write('REFLEXARC 10.0.0.1 1.1.1.x\n')
    await once(socket, 'close')
    expect(socket.bytesRead).toBe(0)
  })

  it('WebSocket frames that the owner rejects are rejected on any host', async () => {
    const answered = new Promise<[number, string]>((resolve, reject) => {
      const socket = new WebSocket(`${hosts[0].url.replace('http', 'ws')}/alarms/nothing-here`, {
        headers: { authorization: basic(theirs, 's') },
      })
      socket.on('unexpected-response', (_request, response) => {
        resolve([response.statusCode ?? 0, String(response.headers['reflexarc-owner'])])
        response.destroy()
      })
      socket.on('open', () => reject(new Error('it was opened')))
      socket.on('error', () => undefined)
    })
    expect(await answered).toEqual([404, hosts[1].url])
  })

  // Holds FENCE-1
  it('a host that does not know yet that it lost its tenant cannot write', async () => {
    const store = storage.tenant(mine)
    const before = await store.log('log').bounds()
    await takeFence(store, 'tenant', { holder: 'somebody', term: 1_000_000 })
    const answer = await ask(hosts[0], mine, '/resources/boiler/events', { late: 1 })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answer.text()).toContain('somebody (term 1000000) has taken over tenant')
    expect(await store.log('log').bounds()).toEqual(before)
  })

  it('metrics show what a host owns and forwards', async () => {
    const text = await (await fetch(`${hosts[0].url}/metrics`)).text()
    expect(text).toContain('reflexarc_queue_depth{queue="cluster-slots"} 128')
    expect(text).toMatch(/reflexarc_things_total\{thing="cluster-forwarded"\} [1-9]/)
  })

  it('the command line shows the hosts, and drains one', async () => {
    const lines: string[] = []
    const terminal = { out: (line: string) => void lines.push(line) }
    const show = async (): Promise<readonly { url: string; slots: number; state: string }[]> => {
      await runCluster(undefined, { store: server.url, json: true }, {}, terminal)
      const { hosts: shown } = JSON.parse(lines.at(-1) ?? '') as {
        hosts: { url: string; slots: number; state: string }[]
      }
      return shown
    }
    expect(await show()).toEqual(
      expect.arrayContaining(
        hosts.map(({ url }): unknown => expect.objectContaining({ url, slots: 128, state: 'live' })),
      ),
    )
    const unknown = await failureOf(runCluster('http://nowhere', { store: server.url }, {}, terminal))
    expect(unknown.code).toBe('NOT_FOUND')
    expect(unknown.message).toContain(hosts[1].url)
    await runCluster(hosts[1].url, { store: server.url }, {}, terminal)
    expect(lines.at(-1)).toContain(hosts[1].url)
    const slotsOfSecond = async () => (await show()).find(({ url }) => url === hosts[1].url)
    await expect.poll(slotsOfSecond).toMatchObject({ slots: 0, state: 'draining' })
    await expect.poll(() => answersItself(hosts[0], theirs)).toBe(true)
    expect((await ask(hosts[1], theirs, '/resources/pump/messages')).ok).toBe(true)
    await runCluster(undefined, { store: server.url }, {}, terminal)
    expect(lines.at(-1)).toMatch(/^id +address .*\bdraining +0 /s)
    expect(lines.at(-1)).toMatch(/^tenant +host +behind +for$/m)
    await runCluster(undefined, { store: server.url, json: true, tenant: mine }, {}, terminal)
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ tenants: [{ tenant: mine, host: hosts[0].url }] })
  })

  it('a host that cannot join the cluster explains why', async () => {
    const alone = await failureOf(start('three', { cluster: false, blobs: join(folder, 'own') }))
    expect(alone.message).toContain('unless all hosts are started with --cluster')
    const folderOfOthers = await failureOf(start('four', { blobs: join(folder, 'other-objects') }))
    expect(folderOfOthers.message).toContain('differs from the folder of the other hosts of this cluster')
    const elsewhere = await failureOf(start('five', { advertise: hosts[0].url }))
    expect(elsewhere.message).toContain('another server responds at')
    const reader = new Database({ url: server.url, schema: 'admin', patience: 0 })
    await reader.query({ text: 'create role reader superuser login' })
    await reader.query({ text: 'alter role reader set default_transaction_read_only = on' })
    await reader.close()
    const readOnly = await failureOf(start('eight', { store: server.url.replace('user=tester', 'user=reader') }))
    expect(readOnly.message).toContain('this server is a read-only standby: connect to the primary')
  })
})
