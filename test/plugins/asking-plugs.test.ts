/** Tests plugs that query a service: their states with and without a result. */
import { describe, expect, it } from 'vitest'
import { getAlarmsByFilterPlug } from '../../plugins/get-alarms-by-filter/plug.ts'
import { getChildrenPlug } from '../../plugins/get-children/plug.ts'
import { getLatestAlarmPlug } from '../../plugins/get-latest-alarm/plug.ts'
import { getLatestMessagesPlug } from '../../plugins/get-latest-messages/plug.ts'
import { getLatestMetricsPlug } from '../../plugins/get-latest-metrics/plug.ts'
import { getMetadataPlug } from '../../plugins/get-metadata/plug.ts'
import { getMetricSeriesPlug } from '../../plugins/get-metric-series/plug.ts'
import { queryResourcesPlug } from '../../plugins/query-resources/plug.ts'
import type { Plug } from '../../src/index.ts'
import type { PlugServices } from '../../src/core/plug/services.ts'
import { checkPlug, runPlugLater, type Call } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000
const BOILER = { id: 'boiler-1', name: 'Boiler' }
const MESSAGE = { temperature: 21, timestamp: 0 }

type Make = (services: PlugServices) => Plug
const PLUGS = {
  getChildren: ({ resources }) => getChildrenPlug(resources),
  getMetadata: ({ resources }) => getMetadataPlug(resources),
  queryResources: ({ resources }) => queryResourcesPlug(resources),
  getLatestAlarm: ({ alarms }) => getLatestAlarmPlug(alarms),
  getAlarmsByFilter: ({ alarms }) => getAlarmsByFilterPlug(alarms),
  getLatestMessages: ({ data }) => getLatestMessagesPlug(data),
  getLatestMetrics: ({ data }) => getLatestMetricsPlug(data),
  getMetricSeries: ({ data }) => getMetricSeriesPlug(data),
} as const satisfies Record<string, Make>
type Name = keyof typeof PLUGS

const own = (properties: Record<string, unknown>, more: Call = {}): Call => ({ properties, ...more })
const OF_TASK: Call = { taskResource: 'house' }

/** Services in which the requested data does not exist. */
const empty = (): PlugServices => {
  const { alarms, resources, data } = plugServices()
  return {
    alarms: { ...alarms, latest: async () => undefined, find: async () => ({ total: 0, alarms: [] }) },
    resources: { ...resources, get: async () => undefined, children: async () => [], find: async () => [] },
    data: {
      ...data,
      messages: async () => [],
      latest: async () => [],
      series: async () => ({ series: [[0, null]], query: {} }),
    },
  }
}

describe('a plug that calls a service', () => {
  const alarm = { id: 'alarm-1', type: 'OVERHEATED', status: 'ACTIVE', severity: 'MAJOR', count: 1 }
  it.each<[Name, Call, string, object, string, readonly unknown[]]>([
    ['getChildren', OF_TASK, 'Found', { values: [BOILER], childIds: ['boiler-1'] }, 'children', ['house']],
    ['getMetadata', own({ resource: 'r' }, OF_TASK), 'Found', { metadata: BOILER }, 'get', ['r']],
    ['getMetadata', OF_TASK, 'Found', { metadata: BOILER }, 'get', ['house']],
    [
      'queryResources',
      own({ query: { tag: ['a', 'b'], limit: 5 } }),
      'Collected',
      { resources: [BOILER] },
      'find',
      [{ tag: ['a', 'b'], limit: 5 }],
    ],
    ['getLatestAlarm', OF_TASK, 'ACTIVE', alarm, 'latest', ['house']],
    [
      'getLatestMessages',
      own({ limit: 5 }, OF_TASK),
      'Collected',
      { data: [MESSAGE], count: 1 },
      'messages',
      ['house', 5],
    ],
    ['getLatestMessages', OF_TASK, 'Collected', { count: 1 }, 'messages', ['house', 100]],
    ['getLatestMessages', own({ limit: 0 }, OF_TASK), 'Collected', { count: 1 }, 'messages', ['house', 1]],
    ['getLatestMessages', own({ limit: 1_000 }, OF_TASK), 'Collected', { count: 1 }, 'messages', ['house', 100]],
  ])('%s with %j returns %s with %j', async (name, call, state, rawData, asks, asked) => {
    const services = plugServices()
    expect(await runPlugLater(PLUGS[name](services), call)).toMatchObject({ state, rawData })
    expect(services.asked).toEqual([{ call: asks, with: asked }])
  })

  it.each(['ACTIVE', 'ACKNOWLEDGED', 'CLEARED'])(
    'returns the status %s and the fields of the alarm',
    async (status) => {
      const alarms = { ...plugServices().alarms, latest: async () => ({ id: 'a', status, self: '/alarm/alarms/a' }) }
      const ran = await runPlugLater(getLatestAlarmPlug(alarms), OF_TASK)
      expect([ran.state, ran.rawData]).toEqual([status, { id: 'a', status }])
    },
  )

  it.each<[Name, string, object, Call?]>([
    ['getChildren', 'Not Found', { values: [], childIds: [] }],
    ['getMetadata', 'Not Found', {}],
    ['getLatestAlarm', 'Not Found', {}],
    ['getAlarmsByFilter', 'Not Found', { total: 0, alarms: [] }],
    ['queryResources', 'Not Collected', { resources: [] }, own({ query: '{"filter":"x"}' })],
    ['getLatestMessages', 'Not Collected', { data: [], count: 0 }],
    ['getLatestMetrics', 'Not Collected', {}],
    ['getMetricSeries', 'Not Collected', { series: [[0, null]] }, own({ metric: 't' }, OF_TASK)],
  ])('without a match, %s returns %s', async (name, state, rawData, call = OF_TASK) => {
    const ran = await runPlugLater(PLUGS[name](empty()), call)
    expect(ran.state).toBe(state)
    expect(ran.rawData).toMatchObject(rawData)
  })

  it.each<[Name, string, Call?]>([
    ['queryResources', 'resources', own({ query: { lat: 'x' } })],
    ['getLatestMessages', 'data'],
    ['getLatestMetrics', 'data'],
  ])(
    'as %s fails in an engine without %s, and when the service rejects the request',
    async (name, service, call = OF_TASK) => {
      await expect(runPlugLater(PLUGS[name]({}), call)).rejects.toThrow(
        `the service ${service} is missing in this engine`,
      )
      const refusing = plugServices({ refusing: new Error('/lat <- is no number') })
      await expect(runPlugLater(PLUGS[name](refusing), call)).rejects.toThrow('/lat <- is no number')
    },
  )

  const WHAT = 'the value is not a text or a list of texts; use a text with commas, or a list of texts'
  it.each<[Name, Record<string, unknown>, readonly unknown[]]>([
    ['getAlarmsByFilter', { status: 5, type: [1] }, [`status: ${WHAT}`, `type: ${WHAT}`]],
    ['getLatestMetrics', { from: 'old' }, [expect.stringContaining('from: ')]],
    ['getLatestMessages', { limit: 101 }, ['limit: limit 101 is out of range']],
    ['getLatestMessages', { limit: 100 }, []],
  ])('as %s rejects the properties %j before the start', (name, properties, problems) => {
    expect(checkPlug(PLUGS[name]({}), properties)).toEqual(problems)
  })
})

describe('getAlarmsByFilter', () => {
  it.each([
    [{}, { history: false }],
    [
      { resource: 'r', history: true },
      { source: 'r', history: true },
    ],
    [
      { status: 'ACTIVE, ACKNOWLEDGED,', type: ['A,B'] },
      { status: ['ACTIVE', 'ACKNOWLEDGED'], type: ['A,B'], history: false },
    ],
    [{ status: '', type: [] }, { history: false }],
  ])('with %j requests %j', async (properties, filter) => {
    const { asked, alarms } = plugServices()
    expect(await runPlugLater(getAlarmsByFilterPlug(alarms), { properties })).toMatchObject({ state: 'Found' })
    expect(asked).toEqual([{ call: 'find', with: [filter] }])
  })
})

describe('getLatestMetrics', () => {
  const data = {
    ...plugServices().data,
    latest: async () => [
      { metric: 't', time: 1_000, value: 21 },
      { metric: 'mode', time: 500, value: 'on' },
    ],
  }
  const plug = getLatestMetricsPlug(data)

  it('contains the newest value of each metric, overridden by the message', async () => {
    const ran = await runPlugLater(plug, { properties: { resource: 'r' }, message: { t: 22, new: true }, now: 2_000 })
    expect(ran).toMatchObject({ state: 'Collected', rawData: { t: 22, mode: 'on', new: true } })
  })

  it('omits values beyond the maximum age', async () => {
    const ran = await runPlugLater(plug, { properties: { from: 'PT1S' }, nodeResource: 'r', now: 2_000 })
    expect([ran.state, ran.rawData]).toEqual(['Collected', { t: 21 }])
    const later = await runPlugLater(plug, { properties: { from: 'PT1S' }, nodeResource: 'r', now: 2_001 })
    expect(later).toMatchObject({ state: 'Not Collected', rawData: {} })
  })
})

describe('getMetricSeries', () => {
  it.each([
    [{}, { until: NOW }],
    [{ from: 'PT2H' }, { from: NOW - 2 * HOUR, until: NOW }],
    [
      { from: '-PT2H', to: '1h' },
      { from: NOW - 2 * HOUR, until: NOW - HOUR },
    ],
    [
      { from: 5, to: '10' },
      { from: '5', until: '10' },
    ],
    [{ from: ' 2023-11-14T00:00:00Z' }, { from: '2023-11-14T00:00:00Z', until: NOW }],
    [
      { aggregate: 'percentile(0.9)', grouping: '15m' },
      { until: NOW, grouping: '15m', aggregates: ['percentile(0.9)'] },
    ],
  ])('%j', async (properties, query) => {
    const { data, asked } = plugServices()
    const plug = getMetricSeriesPlug(data)
    const ran = await runPlugLater(plug, { properties: { metric: 't', ...properties }, nodeResource: 'r', now: NOW })
    expect(asked[0]?.with).toEqual([{ metric: 't', resources: ['r'], ...query }])
    expect(ran).toMatchObject({ state: 'Collected', rawData: { series: [[0, 21]], query: { metric: 't' } } })
  })
})
