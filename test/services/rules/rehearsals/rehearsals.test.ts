import { afterEach, describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import { type Message, type Rule, simulate } from '../../../../src/index.ts'
import type { Rehearsal } from '../../../../src/services/rules/contract.ts'
import { dryPlugs } from '../../../../src/services/rules/tools/dry-plugs.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import type { Sample, Series } from '../../../../src/storage/series.ts'
import { bench, type Bench, NOON } from '../support/bench-of-rules.ts'
import { PLUGS } from '../support/rules.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FROM = NOON - 10 * MINUTE

const HOT: Rule = {
  sensors: [
    {
      label: 'hot',
      name: 'hysteresis',
      resource: '$',
      properties: { value: 'temperature', enter: 90, leave: 80 },
    },
  ],
  actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', text: '{{hot.value}}' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', begins: ['On'] }],
}

let on: Bench | undefined
afterEach(async () => {
  await on?.close()
  on = undefined
})

async function opened(readings: Readonly<Record<string, readonly number[]>>): Promise<Bench> {
  on = await bench({ plugs: [...PLUGS, ...builtins] })
  const samples = Object.entries(readings).flatMap(([resource, values]) =>
    values.map((value, i): Sample => ({ resource, metric: 'temperature', time: FROM + i * MINUTE, value })),
  )
  if (samples.length > 0) await on.storage.tenant('acme').series.append({ samples })
  return on
}

async function rehearsed(of: Bench, body: object): Promise<Rehearsal> {
  const { status, body: answer } = await of.ask('POST', '/api/rehearsals', body)
  expect([200, 202], JSON.stringify(answer)).toContain(status)
  const { id } = answer as Rehearsal
  await expect.poll(async () => (await of.api.rehearsals.get(id)).status, { timeout: 60_000 }).not.toBe('running')
  return of.api.rehearsals.get(id)
}

/** Returns the object with another value of one member. */
function instead<T extends object, K extends keyof T>(of: T, name: K, value: T[K]): T {
  return new Proxy(of, {
    get(target, key) {
      const found: unknown = key === name ? value : Reflect.get(target, key, target)
      return typeof found === 'function' && key !== name ? (found.bind(target) as unknown) : found
    },
  })
}

/** Opens a host whose series return columns in another way. */
async function openedWith(
  readings: readonly number[],
  columnsOf: (series: Series) => Series['columns'],
): Promise<Bench> {
  const storage = openMemory()
  const store = storage.tenant('acme')
  const about = { resource: 'boiler-1', metric: 'temperature' }
  await store.series.append({ samples: readings.map((value, i) => ({ ...about, time: FROM + i * MINUTE, value })) })
  const changed = instead(store, 'series', instead(store.series, 'columns', columnsOf(store.series)))
  on = await bench({ plugs: [...PLUGS, ...builtins], storage: instead(storage, 'tenant', () => changed) })
  return on
}

function messages(values: readonly number[], resource = 'boiler-1'): readonly Message[] {
  return values.map((temperature, i) => ({ resource, timestamp: FROM + i * MINUTE, temperature }))
}

describe('POST /api/rehearsals', () => {
  it('rehearses a fleet on series, coverage first', async () => {
    const bench = await opened({ 'boiler-1': [70, 95, 97, 75, 99], 'boiler-2': [60, 61] })
    const answer = await rehearsed(bench, {
      rule: HOT,
      resources: ['boiler-1', 'boiler-2'],
      source: { from: '-2h', until: NOON },
    })
    expect(answer).toMatchObject({
      status: 'done',
      progress: 1,
      coverage: {
        summary: '2 of 2 resources had data',
        resources: { matched: 2, withData: 2 },
        items: [
          { resource: 'boiler-1', fidelity: 'series', messages: 5, metrics: { temperature: { count: 5 } } },
          { resource: 'boiler-2', fidelity: 'series', messages: 2 },
        ],
        missingMetrics: [],
        from: NOON - 2 * HOUR,
        until: NOON,
      },
      fidelity: 'series',
      firings: [
        { time: FROM + MINUTE, resource: 'boiler-1', node: 'alarm', source: 'hot' },
        { time: FROM + 4 * MINUTE, resource: 'boiler-1', node: 'alarm', source: 'hot' },
      ],
      alarms: {
        raised: 1,
        cleared: 0,
        figures: { alarms: 1, top: [{ source: 'boiler-1', type: 'HOT' }], severities: { MINOR: 1 } },
      },
      effects: [
        { node: 'alarm', plug: 'createAlarm', properties: { type: 'HOT', text: '95' }, alarm: 'raised' },
        { node: 'alarm', plug: 'createAlarm', properties: { type: 'HOT', text: '99' }, alarm: 'repeated' },
      ],
      truncated: false,
    })
    expect(answer.nodes).toContainEqual({ node: 'hot', runs: 7, changes: 5, errors: 0, fired: 0, held: {} })
    expect(answer.firings?.[0]?.why?.trigger).toMatchObject({ source: 'hot', to: 'On' })
    expect(await bench.api.rehearsals.get(answer.id)).toEqual(answer)
  })

  it('takes messages of the request', async () => {
    const bench = await opened({})
    const answer = await rehearsed(bench, { rule: HOT, source: { messages: messages([70, 95]) } })
    expect(answer).toMatchObject({ fidelity: 'messages', coverage: { messages: 2 }, counts: { firings: 1 } })
  })

  it('takes a template with its variables', async () => {
    const bench = await opened({})
    const sensors = [
      { ...HOT.sensors?.[0], properties: { value: 'temperature', enter: '${variables.limit}', leave: 10 } },
    ]
    const template = { ...HOT, sensors, name: 'T', variables: [{ name: 'limit', type: 'double' }] }
    const body = { rule: template, source: { messages: messages([70, 95]) }, sweep: { '/variables/limit': [60, 99] } }
    const answer = await rehearsed(bench, { ...body, variables: { limit: 90 } })
    expect(answer).toMatchObject({ counts: { firings: 1 }, sweep: [{ firings: 1 }, { firings: 0 }] })
  })

  it('compares with another rule', async () => {
    const bench = await opened({})
    const other = {
      ...HOT,
      sensors: [{ ...HOT.sensors?.[0], properties: { value: 'temperature', enter: 97, leave: 80 } }],
    }
    const answer = await rehearsed(bench, {
      rule: HOT,
      compareWith: { rule: other },
      source: { messages: messages([70, 95, 70, 99]) },
    })
    expect(answer.comparison).toMatchObject({
      added: [{ time: FROM + MINUTE, resource: 'boiler-1', node: 'alarm' }],
      removed: [],
      moved: [],
      counts: { equal: 1, added: 1, removed: 0, moved: 0 },
    })
  })

  it('sweeps values, and marks combinations that cannot run or invert the rule', async () => {
    const bench = await opened({ 'boiler-1': [70, 95, 70, 99] })
    const answer = await rehearsed(bench, {
      rule: HOT,
      resources: ['boiler-1'],
      source: { from: '-1d' },
      sweep: { '/sensors/0/properties/enter': [90, 97, 80, 75] },
    })
    expect(answer.sweep).toMatchObject([
      { values: { '/sensors/0/properties/enter': 90 }, firings: 2, alarms: 1, perDay: 2 },
      { firings: 1, alarms: 1, perDay: 1 },
      { firings: 0, perDay: null, issue: { severity: 'ERROR' } },
      { issue: { severity: 'WARNING', suggestion: 'keep enter above leave' } },
    ])
  })

  // Holds REHEARSE-2
  it('reports resources without data, and is empty when none has any', async () => {
    const bench = await opened({ 'boiler-1': [70] })
    const one = await rehearsed(bench, { rule: HOT, resources: ['boiler-1'], source: { from: '-2m' } })
    expect(one).toMatchObject({ status: 'empty', coverage: { summary: '0 of 1 resource had data' }, firings: [] })
    expect(one.coverage?.missingMetrics).toEqual(['temperature'])
    expect(one.coverage?.items).toMatchObject([{ resource: 'boiler-1', newest: FROM }])
  })

  it('rehearses a task and lists its rehearsals', async () => {
    const bench = await opened({ 'boiler-1': [95] })
    const { ID } = await bench.api.tasks.create({ ...HOT, task: { name: 'T', resource: 'boiler-1' } })
    const answer = await rehearsed(bench, { task: ID, source: {} })
    expect(answer).toMatchObject({ task: ID, counts: { firings: 1 } })
    const list = await bench.ask('GET', `/api/tasks/${ID}/rehearsals`)
    expect(list.body).toMatchObject([{ id: answer.id, status: 'done', task: ID }])
    expect((await bench.ask('GET', '/api/tasks/none/rehearsals')).status).toBe(404)
  })

  it('keeps events and pages them', async () => {
    const bench = await opened({ 'boiler-1': [95, 70, 95] })
    const answer = await rehearsed(bench, {
      rule: HOT,
      resources: ['boiler-1'],
      source: {},
      events: { types: ['state', 'fired'], limit: 4 },
    })
    expect(answer.events?.map(({ type }) => type)).toEqual(['state', 'fired', 'state', 'state'])
    expect(answer.truncated).toBe(true)
    const page = await bench.api.rehearsals.events(answer.id, { after: 1, limit: 2 })
    expect(page).toMatchObject({ total: 4, next: `/api/rehearsals/${answer.id}/events?after=3&limit=2` })
    expect(page.values.map(({ type }) => type)).toEqual(['fired', 'state'])
  })

  it('is removed on request and after a day', async () => {
    const bench = await opened({ 'boiler-1': [95] })
    const request = { rule: HOT, resources: ['boiler-1'], source: {} }
    const first = await rehearsed(bench, request)
    expect((await bench.ask('DELETE', `/api/rehearsals/${first.id}`)).status).toBe(204)
    expect((await bench.ask('GET', `/api/rehearsals/${first.id}`)).status).toBe(404)
    const second = await rehearsed(bench, request)
    bench.clock.advanceTo(NOON + 25 * HOUR)
    await rehearsed(bench, request)
    expect((await bench.ask('GET', `/api/rehearsals/${second.id}`)).status).toBe(404)
  })
})

// Holds REHEARSE-3
it('reports a rehearsal of an earlier process as interrupted', async () => {
  const first = await opened({})
  const { store } = { store: first.storage.tenant('acme') }
  const { RehearsalDocuments } = await import('../../../../src/services/rules/rehearsals/rehearsal-record.ts')
  await new RehearsalDocuments(store).put({
    id: 'r1',
    status: 'running',
    user: 'tester',
    createTime: NOON,
    progress: 0.5,
    removeTime: NOON + HOUR,
  })
  const again = await bench({ storage: first.storage })
  expect(await again.api.rehearsals.get('r1')).toMatchObject({ status: 'interrupted', progress: 0.5 })
  await again.close()
})

const SOURCE = { from: '-1h' }
const REFUSED: readonly (readonly [string, object, number, readonly string[]])[] = [
  ['without a rule', { source: SOURCE }, 400, ['/rule']],
  ['two rules', { rule: HOT, template: 'T', source: SOURCE }, 400, ['/template']],
  ['a version without a template', { rule: HOT, templateVersion: 1, source: SOURCE }, 400, ['/templateVersion']],
  ['without a source', { rule: HOT }, 400, ['/source']],
  ['an unknown field', { rule: HOT, source: SOURCE, sweeep: {} }, 400, ['/sweeep']],
  ['no messages', { rule: HOT, source: { messages: [] } }, 400, ['/source/messages']],
  ['a bad time', { rule: HOT, source: { from: 'yesterday' } }, 400, ['/source/from']],
  [
    'a message without a valid time',
    { rule: HOT, source: { messages: [{ resource: 'boiler-1', timestamp: 'noon' }] } },
    400,
    ['/source/messages/0/timestamp'],
  ],
  [
    'from after until',
    { rule: HOT, resources: ['boiler-1'], source: { from: NOON, until: NOON - 1 } },
    400,
    ['/source/from'],
  ],
  ['unknown resources', { rule: HOT, resources: ['boiler-1', 'x'], source: SOURCE }, 400, ['/resources/1']],
  ['no resources', { rule: HOT, source: SOURCE }, 400, ['/resources']],
  ['an empty selection', { rule: HOT, resources: {}, source: SOURCE }, 400, ['/resources']],
  [
    'more messages than a request may have',
    { rule: HOT, source: { messages: Array.from({ length: 100_001 }, () => ({ resource: 'r', timestamp: 0 })) } },
    413,
    [],
  ],
  [
    'a thousand times a thousand combinations',
    {
      rule: HOT,
      resources: ['boiler-1'],
      source: SOURCE,
      sweep: {
        'hot.enter': Array.from({ length: 1_000 }, (_, i) => 81 + i),
        'hot.leave': Array.from({ length: 1_000 }, (_, i) => 80 - i),
      },
    },
    400,
    [],
  ],
  [
    'what needs kept inputs, on a host that keeps none',
    {
      rule: HOT,
      resources: ['boiler-1'],
      source: SOURCE,
      order: 'lived',
      initialState: 'warm',
      calls: 'recorded',
    },
    400,
    ['/order', '/initialState', '/calls'],
  ],
  ['an unknown order', { rule: HOT, source: SOURCE, order: 'sideways' }, 400, ['/order']],
  ['an unknown task', { task: 'none', source: SOURCE }, 404, []],
  ['an unknown template', { template: 'none', source: SOURCE }, 400, ['/template']],
  [
    'a path of a sweep that does not exist',
    { rule: HOT, resources: ['boiler-1'], source: SOURCE, sweep: { '/sensors/0/properties/entr': [1] } },
    400,
    ['/sweep/~1sensors~10~1properties~1entr'],
  ],
  [
    'too many combinations',
    {
      rule: HOT,
      resources: ['boiler-1'],
      source: SOURCE,
      sweep: { 'hot.enter': '81..1080/1', 'hot.leave': '1..1000/1' },
    },
    400,
    [],
  ],
  [
    'problems of the rule, the other rule and the times at once',
    {
      rule: { ...HOT, sensors: [{ ...HOT.sensors?.[0], name: 'none' }] },
      compareWith: { rule: { ...HOT, triggers: [{ sourceLabel: 'cold', destinationLabel: 'alarm' }] } },
      resources: ['boiler-1'],
      source: { from: NOON, until: NOON - 1 },
    },
    400,
    ['/rule/sensors/0', '/compareWith/rule/triggers/0/sourceLabel', '/source/from'],
  ],
]

describe('bad requests', () => {
  for (const [what, body, status, paths] of REFUSED) {
    it(what, async () => {
      const bench = await opened({ 'boiler-1': [95] })
      const answer = await bench.ask('POST', '/api/rehearsals', body)
      const details = (answer.body as { details?: readonly { path: string }[] }).details ?? []
      expect(answer.status, JSON.stringify(answer.body)).toBe(status)
      for (const path of paths) {
        expect(
          details.some((issue) => issue.path.startsWith(path)),
          JSON.stringify(details),
        ).toBe(true)
      }
    })
  }

  it('names the nearest path of a sweep', async () => {
    const bench = await opened({ 'boiler-1': [95] })
    const body = { rule: HOT, resources: ['boiler-1'], source: SOURCE, sweep: { '/sensors/0/properties/entr': [1] } }
    const { body: answer } = await bench.ask('POST', '/api/rehearsals', body)
    expect(JSON.stringify(answer)).toContain('did you mean /sensors/0/properties/enter?')
  })
})

it('names the plug version of a task that the host no longer has', async () => {
  const first = await opened({ 'boiler-1': [95] })
  const { ID } = await first.api.tasks.create({ ...HOT, task: { name: 'T', resource: 'boiler-1' } })
  const plugs = [...PLUGS, ...builtins].map((plug) => {
    const { compatible: _older, ...rest } = plug
    return plug.name === 'hysteresis' ? { ...rest, version: '9.0.0' } : plug
  })
  const again = await bench({ storage: first.storage, plugs, firstId: 50 })
  const { status, body } = await again.ask('POST', '/api/rehearsals', { task: ID, source: SOURCE })
  await again.close()
  expect(status).toBe(400)
  expect(JSON.stringify(body)).toContain('hysteresis')
})

it('ends with what it has read when the data is deleted meanwhile', async () => {
  const readings = Array.from({ length: 50_000 }, (_, i) => i % 100)
  const bench = await openedWith(readings, (series) => async (query) => {
    const page = await series.columns(query)
    await series.remove({ resource: 'boiler-1' })
    return page
  })
  const answer = await rehearsed(bench, {
    rule: HOT,
    resources: ['boiler-1'],
    source: { from: FROM, until: FROM + 50_000 * MINUTE },
  })
  expect(answer).toMatchObject({ status: 'done', coverage: { items: [{ resource: 'boiler-1' }] } })
  expect(answer.coverage?.messages).toBe(20_000)
})

it('continues as a job that can be cancelled over a billion messages', async () => {
  const from = NOON - 12 * 24 * HOUR
  let [asked, longest] = [0, 0]
  const bench = await openedWith([95], () => async ({ from: start = 0, limit = 0 }) => {
    asked++
    longest = Math.max(longest, limit)
    const times = Float64Array.from({ length: limit }, (_, i) => start + i)
    return { times, values: new Float64Array(limit).fill(95) }
  })
  const body = { rule: HOT, resources: ['boiler-1'], source: { from } }
  const { status, body: queued } = await bench.ask('POST', '/api/rehearsals', body)
  expect(status).toBe(202)
  const { id } = queued as { id: string }
  expect(await bench.api.rehearsals.get(id)).toMatchObject({
    status: 'running',
    progress: expect.toSatisfy(isPart) as unknown,
  })
  expect((await bench.ask('DELETE', `/api/rehearsals/${id}`)).status).toBe(204)
  expect(await bench.api.rehearsals.get(id)).toMatchObject({ status: 'cancelled' })
  const before = asked
  await new Promise((resolve) => void setImmediate(resolve))
  expect([asked - before, longest]).toEqual([0, 20_000])
})

const isPart = (progress: number): boolean => progress > 0 && progress < 1

// Holds REHEARSE-3
it('is interrupted when the service stops', async () => {
  const bench = await opened({ 'boiler-1': [95] })
  const rule = { ...HOT, task: { type: 'periodic', frequency: 1 } }
  const body = { rule, resources: ['boiler-1'], source: { from: '-3650d' } }
  const { status, body: queued } = await bench.ask('POST', '/api/rehearsals', body)
  expect(status).toBe(202)
  await bench.service.stop()
  const { id } = queued as { id: string }
  expect(await bench.api.rehearsals.get(id)).toMatchObject({ id, status: 'interrupted' })
})

describe('POST /api/tasks/simulate', () => {
  it('returns the events of a simulation by the library, with a schedule that is due at the start', async () => {
    const bench = await opened({})
    const rule = { ...HOT, task: { type: 'scheduled' as const, cron: '0 * * * * ?' } }
    const request = { messages: messages([70, 95]), resource: 'boiler-1', from: FROM, until: FROM + 2 * MINUTE }
    const { body } = await bench.ask('POST', '/api/tasks/simulate', { rule, ...request })
    const plugs = dryPlugs([...PLUGS, ...builtins], new Set())
    const { events } = await simulate(rule, { plugs, ...request })
    expect(events.filter(({ type }) => type === 'tick')).toHaveLength(3)
    expect(body).toMatchObject({ messages: 2, late: 0, events: JSON.parse(JSON.stringify(events)) as object })
  })
})
