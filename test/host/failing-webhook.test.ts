/** Tests that a failing webhook is visible in the log, the metrics and the list of deliveries, and is retried. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { wholeHost, type WholeHost } from './whole-host.ts'

interface Delivery {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly error?: string
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that answers with the status in the path of a request. */
async function webhook() {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    response.statusCode = Number(request.url?.slice(1))
    response.end()
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function task(host: WholeHost, url: string): Promise<void> {
  await host.done('POST', '/api/tasks', {
    sensors: [
      { label: 'level', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'level', threshold: 0 } },
    ],
    actuators: [{ label: 'hook', name: 'callURL', properties: { url, method: 'POST', body: 'high' } }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'hook', statesTrigger: ['Above'] }],
    task: { name: 'hook', type: 'reactive', resource: 'tank' },
  })
}

const deliveries = async (host: WholeHost): Promise<readonly Delivery[]> =>
  (await host.done<{ values: readonly Delivery[] }>('GET', '/api/deliveries')).values

describe('a webhook', () => {
  it('that fails for a while is retried under one key, and visible at once', async () => {
    const { seen, url } = await webhook()
    await using host = await wholeHost({ only: 'rules,broker', empty: true, allowUrl: '127.0.0.0/8' })
    await task(host, `${url}/503`)
    await host.done('POST', '/resources/tank/events', { level: 1 })
    await expect.poll(() => deliveries(host)).toMatchObject([{ status: 'retrying', attempts: 1 }])
    const [{ id, error } = { id: '' }] = await deliveries(host)
    expect(error).toContain('responded with status 503')
    expect(seen[0]?.['idempotency-key']).toBe(id)
    expect(await host.figures()).toContain('reflexarc_deliveries_total{tenant="acme",status="retried"} 1')
    expect(host.log.join('')).toContain('a delivery is retried')
  })

  it('that rejects its call is not retried', async () => {
    const { seen, url } = await webhook()
    await using host = await wholeHost({ only: 'rules,broker', empty: true, allowUrl: '127.0.0.0/8' })
    await task(host, `${url}/404`)
    await host.done('POST', '/resources/tank/events', { level: 1 })
    await expect.poll(() => deliveries(host)).toMatchObject([{ status: 'dead', attempts: 1 }])
    expect(seen).toHaveLength(1)
    const figures = await host.figures()
    expect(figures).toContain('reflexarc_deliveries_total{tenant="acme",status="dead"} 1')
    expect(figures).toContain('reflexarc_things_total{thing="plugs-failed"} 1')
    await expect.poll(() => host.log.join('')).toContain('a delivery failed')
  })
})
