/** Connectors in a whole host: with converters and resources, rules and alarms, over a broker in memory. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectorsOver } from '../../src/host/wiring/make-connectors.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { MemoryBroker } from '../services/connectors/memory-broker.ts'
import { type Body, wholeHost, type WholeHost } from './whole-host.ts'

const outside = new MemoryBroker()
/** recent, since a host replaces timestamps that are far from its clock */
const TIME = Date.now() - 1_000
const CONNECTION = { brokers: ['127.0.0.1:9092'] }

let host: WholeHost
beforeAll(async () => {
  const connector = async () => outside.connector
  const connectors = { kafka: connector, mqtt: connector, sparkplug: connector }
  const services = new Map(SERVICES).set('connectors', (parts) => ({
    ...connectorsOver(connectors, parts),
  }))
  host = await wholeHost({ allowUrl: ['127.0.0.1'] }, { services })
})
afterAll(() => host[Symbol.asyncDispose]())

const statusOf = async (path: string) => (await host.done<{ status: Body }>('GET', path)).status

it('reads through a converter, which also changes resources', async () => {
  const template = `{"metrics": [{"resource": "$payload.dev", "temperature": $payload.t}],
    "metadata": [{"resource": "$payload.dev", "firmware": "$payload.fw"}]}`
  await host.done('PUT', '/converter/gateway', { type: 'velocity', template })
  await outside.publish('raw', [
    { key: '', value: '{"dev":"pump-7","t":61,"fw":"1.2"}', time: TIME },
    { key: '', value: '{"dev":"pump-7","t":}' },
    { key: '', value: '{"dev":"pump-7"}' },
  ])
  const source = { type: 'kafka', connection: CONNECTION, topics: ['raw'], converter: 'gateway', start: 'earliest' }
  expect((await host.ask('PUT', '/api/sources/raw', source)).status).toBe(201)
  expect((await host.ask('PUT', '/api/sources/raw', source)).status).toBe(200)
  await expect.poll(() => statusOf('/api/sources/raw')).toMatchObject({ read: 3, accepted: 1, rejected: 2 })
  expect(await host.done('GET', '/resources/pump-7/current')).toMatchObject({
    temperature: 61,
    timestamp: TIME,
  })
  expect(await host.done('GET', '/api/resources/pump-7')).toMatchObject({ firmware: '1.2' })
  const { values } = await host.done<{ values: readonly Body[] }>('GET', '/api/sources/raw/rejected')
  expect(values.map(({ record, code }) => [record, code])).toEqual([
    ['raw/1', 'NOT_JSON'],
    ['raw/2', 'CONVERSION'],
  ])
})

it('sends events of alarms and firings, with ids', async () => {
  const sink = { type: 'kafka', connection: CONNECTION, topic: 'out-{type}' }
  await host.done('PUT', '/api/sinks/alarms', { ...sink, select: { items: 'alarms', types: ['HOT'] } })
  await host.done('PUT', '/api/sinks/firings', { ...sink, topic: 'fired', select: { items: 'firings' } })
  const sensors = [{ label: 'seen', name: 'invokeCount', resource: '$' }]
  const actuators = [{ label: 'told', name: 'log', properties: { message: 'seen' } }]
  const triggers = [
    { sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'], invocationPolicy: 0 },
  ]
  const task = { name: 'watch', resource: 'boiler-1' }
  const { ID } = await host.done<{ ID: string }>('POST', '/api/tasks', { sensors, actuators, triggers, task })
  await host.done('POST', '/resources/boiler-1/events', { n: 1 })
  await host.done('POST', '/resources/boiler-1/events', { n: 2 })
  for (const type of ['HOT', 'COLD']) {
    const alarm = { source: { id: 'boiler-1' }, type, text: 'hot', severity: 'MAJOR' }
    await host.done('POST', '/alarm/alarms', alarm)
  }
  await expect.poll(() => outside.records('out-HOT').length).toBe(1)
  const [event] = outside.records('out-HOT')
  expect(event).toMatchObject({ key: 'boiler-1', id: 'alarm event 1' })
  expect(JSON.parse(event?.value ?? '')).toMatchObject({ alarm: { type: 'HOT', source: { id: 'boiler-1' } } })
  expect(outside.records('out-COLD')).toEqual([])
  await expect.poll(() => outside.records('fired').length).toBeGreaterThan(0)
  const fired = outside.records('fired').map(({ key, id, value }) => ({ key, id, ...(JSON.parse(value) as Body) }))
  expect(fired[0]).toMatchObject({ key: 'boiler-1', task: ID, name: 'watch', source: 'seen', node: 'told' })
  expect(fired[0]?.id).toMatch(new RegExp(`^${ID}/1/`))
})

it('is counted, audited, and a warning while it fails', async () => {
  const figures = await host.figures()
  expect(figures).toContain('reflexarc_connector_records_total{result="rejected"} 2')
  expect(figures.find((line) => line.startsWith('reflexarc_connector_lag '))).toBeDefined()
  outside.fail('the broker has ended')
  const health = async () => (await host.app.inject({ url: '/health' })).json<Body>()
  await expect.poll(health).toMatchObject({
    status: 'ok',
    warnings: expect.arrayContaining(['source raw: the broker has ended']) as unknown,
  })
  outside.down = undefined
  const audit = await host.done<{ values: readonly Body[] }>('GET', '/audit/v1/entries')
  expect(JSON.stringify(audit)).toContain('"sources"')
  expect((await host.send('DELETE', '/api/sources/raw')).statusCode).toBe(204)
  expect((await host.send('GET', '/api/sources/raw')).statusCode).toBe(404)
  expect(await host.done('GET', '/api/sources')).toEqual({ sources: [] })
  expect(await host.done('GET', '/api/sinks')).toMatchObject({ sinks: [{ name: 'alarms' }, { name: 'firings' }] })
})
