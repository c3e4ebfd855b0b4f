/** Tests rehearsals on a host's data: in a thread, without effects, and cancelled halfway. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Rehearsal } from '../../src/services/rules/contract.ts'
import { type WholeHost, wholeHost } from './whole-host.ts'

const MINUTE = 60_000
const NOW = Date.now()
const FROM = NOW - 60 * MINUTE
const RULE = {
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter: 90, leave: 80 } },
    { label: 'last', name: 'getMetricValue', resource: '$', properties: { metric: 'temperature' } },
  ],
  actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', text: '{{hot.value}}' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', begins: ['On'] }],
}

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost()
  await host.done('POST', '/api/resourcetypes', { id: 'boiler', name: 'Boiler' })
  for (const id of ['boiler-1', 'boiler-2'])
    await host.done('POST', '/api/resources', { id, name: id, resourceTypeId: 'boiler' })
  for (const [i, temperature] of [70, 95, 97, 75, 99].entries())
    await host.done('POST', '/resources/boiler-1/events', { timestamp: FROM + i * MINUTE, temperature })
  await host.done('POST', '/resources/foreign/events', { temperature: 1 })
})
afterAll(() => host[Symbol.asyncDispose]())

/** Returns the result, also of a rehearsal that takes longer than two seconds. */
async function rehearsed(body: object): Promise<Rehearsal> {
  const { id } = await host.done<{ id: string }>('POST', '/api/rehearsals', body)
  const found = () => host.done<Rehearsal>('GET', `/api/rehearsals/${id}`)
  await expect.poll(async () => (await found()).status, { timeout: 60_000 }).not.toBe('running')
  return found()
}

// Holds REHEARSE-1
it('rehearses a fleet by type on posted data, without effects', async () => {
  const answer = await rehearsed({ rule: RULE, resources: { resourceTypeId: 'boiler' }, source: { from: '-2h' } })
  expect(answer).toMatchObject({
    status: 'done',
    coverage: {
      summary: '1 of 2 resources had data',
      items: [
        { resource: 'boiler-2', messages: 0 },
        { resource: 'boiler-1', messages: 5, metrics: { temperature: { count: 5 } } },
      ],
    },
    firings: [
      { time: FROM + MINUTE, resource: 'boiler-1', node: 'alarm' },
      { time: FROM + 4 * MINUTE, resource: 'boiler-1', node: 'alarm' },
    ],
    alarms: { raised: 1, cleared: 0 },
    effects: [{ properties: { text: '95' } }, { properties: { text: '99' } }],
    calls: { mode: 'none', notMade: { 'data.series': 5 } },
  })
  expect(await host.done('GET', '/alarm/alarms')).toMatchObject({ alarms: [] })
})

it('shows sensors the stored data of that time', async () => {
  for (const [i, pressure] of [1, 2, 3].entries())
    await host.done('POST', '/resources/pump/events', { timestamp: FROM + (2 * i - 1) * MINUTE, pressure })
  const rule = {
    ...RULE,
    sensors: [
      RULE.sensors[0],
      { label: 'newest', name: 'getLatestMetrics', resource: '$', properties: { resource: 'pump' } },
      {
        label: 'peak',
        name: 'getMetricValue',
        resource: '$',
        properties: { resource: 'pump', metric: 'pressure', aggregate: 'max' },
      },
    ],
    actuators: [
      {
        ...RULE.actuators[0],
        properties: { type: 'HOT', text: '{{newest.pressure}} {{peak.result}}' },
      },
    ],
  }
  const body = { rule, resources: ['boiler-1'], source: { from: '-2h' }, calls: 'live' }
  expect(await rehearsed(body)).toMatchObject({
    status: 'done',
    calls: { mode: 'live', notMade: {}, current: {} },
    effects: [
      { time: FROM + MINUTE, properties: { text: '2 2' } },
      { time: FROM + 4 * MINUTE, properties: { text: '3 3' } },
    ],
  })
})

it('reports calls that return current data', async () => {
  const sensors = [...RULE.sensors, { label: 'open', name: 'getLatestAlarm', resource: '$' }]
  const body = { rule: { ...RULE, sensors }, resources: ['boiler-1'], source: { from: '-2h' }, calls: 'live' }
  expect(await rehearsed(body)).toMatchObject({
    calls: { mode: 'live', notMade: {}, current: { 'alarms.latest': 5 } },
  })
})

it('rejects a resource of another tenant as one that does not exist', async () => {
  const body = { rule: RULE, resources: ['boiler-1'], source: { from: '-2h' } }
  expect(await host.ask('POST', '/api/rehearsals', body, 'umbrella')).toMatchObject({
    status: 400,
    body: { details: [{ type: 'RESOURCE', path: '/resources/0' }] },
  })
})

it('continues as a job that can be cancelled', async () => {
  const endless = { ...RULE, task: { type: 'periodic', frequency: 1 } }
  const body = { rule: endless, resources: ['boiler-1'], source: { from: '-3650d' } }
  const { status, body: queued } = await host.ask('POST', '/api/rehearsals', body)
  expect(status).toBe(202)
  const uri = String(queued['uri'])
  expect(await host.done('GET', uri)).toMatchObject({ id: queued['id'], status: 'running' })
  expect((await host.send('DELETE', uri)).statusCode).toBe(204)
  expect(await host.done('GET', uri)).toMatchObject({ status: 'cancelled' })
})
