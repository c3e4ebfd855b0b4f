/** PostgreSQL is away for a while: what falls due meanwhile waits for it, and clients are told to come again. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/host/config.ts'
import { startHost, type RunningHost } from '../../src/host/running-host.ts'
import { openPostgres } from '../../src/storage/postgres/open.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { cuttableWay, describeWithPostgres, type CuttableWay, type PostgresServer } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'
import { testFolder } from '../support/test-folder.ts'

describeWithPostgres('a database that is away', (startServer) => {
  const folder = testFolder()
  let server: PostgresServer
  let way: CuttableWay
  let host: RunningHost
  const log: string[] = []
  const ask = (path: string, body?: object) =>
    fetch(host.url + path, {
      headers: { authorization: `Basic ${btoa('k:s')}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  const firings = async () =>
    Number(/^reflexarc_firings_total\S* (\d+)/m.exec(await (await ask('/metrics')).text())?.[1] ?? 0)

  beforeAll(async () => {
    server = await startServer()
    way = await cuttableWay(server)
    const config = readConfig({ port: 0, store: way.url, data: folder, key: 'k', secret: 's' }, {}, [])
    const openStorage = () => openPostgres({ url: way.url, blobs: openMemoryBlobs(), patience: 100, lock: 'exclusive' })
    host = await startHost(config, { write: (line) => void log.push(line) }, { hashCost: 2, openStorage })
  })
  afterAll(async () => {
    way.mend()
    await host.stop()
    await way.close()
    await server.stop()
  })

  it('loses no effect of a timer that is due meanwhile, and returns 503 with Retry-After', async () => {
    const rule = {
      sensors: [{ label: 'due', name: 'condition', resource: '$', properties: { condition: 'now > 0' } }],
      actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'T', text: 'due', severity: 'MAJOR' } }],
      triggers: [{ sourceLabel: 'due', destinationLabel: 'alarm', statesTrigger: ['True'] }],
      task: { name: 'late', type: 'periodic', frequency: 300, resource: 'boiler' },
    }
    const made = await ask('/api/tasks', rule)
    expect(made.status, await made.clone().text()).toBe(201)
    const { ID } = (await made.json()) as { ID: string }
    await until(async () => (await firings()) > 0)
    way.cut()
    log.length = 0
    // tasks go on: what they did is to be stored again and again
    await until(() => log.some((line) => line.includes('states of tasks were not stored')))
    const answer = await ask('/alarm/alarms')
    expect([answer.status, Number(answer.headers.get('retry-after'))]).toEqual([503, 2])
    expect(await answer.text()).not.toContain('127.0.0.1')
    way.mend()
    await until(async () => (await ask('/alarm/alarms')).status === 200)
    const missed = await firings()
    const deliveries = async () => {
      const list = (await (await ask(`/api/tasks/${ID}/deliveries`)).json()) as {
        values: { status: string }[]
      }
      return list.values.map(({ status }) => status)
    }
    await until(async () => (await deliveries()).filter((status) => status === 'delivered').length >= missed)
    expect(await deliveries()).not.toContain('dead')
  })
})
