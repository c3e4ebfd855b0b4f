/** Maintenance windows: alarms that are held back or not created, tasks that pause, also over restarts. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Alarms } from '../../../src/services/alarms/service.ts'
import { Maintenance } from '../../../src/services/maintenance/service.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

/** a Monday */
const NOON = Date.UTC(2026, 10, 23, 12)
const HOUR = 3_600_000
const CALLER = { tenant: 'acme', user: 'tester' }
const ALARM = { source: { id: 'pump-1', line: '3' }, type: 'HOT', text: 'hot', severity: 'MAJOR', site: 'K1' }

let clock: { now: number }
let running: Set<string>
let alarms: Alarms
let windows: Maintenance
const errors: string[] = []
const timers = new Set<() => void>()
const store = { of: openMemory().tenant('acme') }

function maintenance(): Maintenance {
  return new Maintenance({
    tenant: 'acme',
    store: store.of,
    alarms: () => alarms,
    tasks: () => ({
      running: async () =>
        [...running].map((id) => ({ id, resource: id === 't9' ? 'boiler' : 'pump-1', tags: { line: '3' } })),
      stop: async (id) => void running.delete(id),
      start: async (id) => void running.add(id),
    }),
    now: () => clock.now,
    later: (_ms, work) => {
      timers.add(work)
      return () => timers.delete(work)
    },
    logger: { warn: () => undefined, error: (text) => void errors.push(text) },
  })
}

beforeEach(async () => {
  clock = { now: NOON }
  running = new Set(['t1', 't2', 't9'])
  store.of = openMemory().tenant('acme')
  timers.clear()
  let id = 0
  windows = maintenance()
  alarms = new Alarms({
    tenant: 'acme',
    store: store.of,
    now: () => clock.now,
    newId: () => `a${++id}`,
    suppressor: () => windows,
  })
  await windows.start()
  await alarms.start()
})
afterEach(async () => {
  await windows.stop()
  await alarms.stop()
  const [error] = errors.splice(0)
  if (error !== undefined) throw new Error(error)
})

const api = () => windows.as(CALLER)
const put = async (name: string, body: object) => (await api().put(name, body)).document

/** Sets the clock, and lets windows and alarms do what is due. */
async function at(time: number): Promise<void> {
  clock.now = time
  windows.wake()
  await windows.idle()
  await alarms.keepHouse()
  await alarms.idle()
}

// Holds WINDOW-1
it('holds back what is raised in it, shows why, and announces it at its end', async () => {
  const window = await put('pumps', {
    effect: 'suppress',
    reason: 'overhaul',
    select: { resources: ['pump-1'] },
    until: NOON + 2 * HOUR,
  })
  expect(window).toMatchObject({ state: 'active', user: 'tester', from: new Date(NOON).toISOString(), warnings: [] })
  const alarm = await alarms.as(CALLER).raise(ALARM)
  const until = '2026-11-23T14:00:00.000Z'
  const hold = { suppression: 'suppressed', by: 'window/pumps', until, reason: 'overhaul' }
  expect(alarm).toMatchObject({ suppression: 'suppressed', holds: [hold] })
  expect((await alarms.as(CALLER).why(alarm.id)).heldBack).toEqual([
    `held back by window/pumps until ${until}: overhaul`,
  ])
  expect((await alarms.as(CALLER).raise({ ...ALARM, source: { id: 'pump-2' } })).suppression).toBe('none')
  await at(NOON + 2 * HOUR)
  expect(await alarms.as(CALLER).get(alarm.id)).toMatchObject({ suppression: 'none' })
  expect((await api().get('pumps')).state).toBe('over')
  expect((await alarms.as(CALLER).raise({ ...ALARM, type: 'B' })).suppression).toBe('none')
})

it('holds back open alarms from its beginning, and frees them when it is removed', async () => {
  const { id } = await alarms.as(CALLER).raise(ALARM)
  await put('line', { effect: 'suppress', select: { tags: { line: '3' } }, from: NOON + HOUR, until: NOON + 3 * HOUR })
  await at(NOON + HOUR - 1)
  expect((await alarms.as(CALLER).get(id)).suppression).toBe('none')
  await at(NOON + HOUR)
  expect((await alarms.as(CALLER).get(id)).suppression).toBe('suppressed')
  await api().remove('line')
  await at(NOON + HOUR + 1)
  expect((await alarms.as(CALLER).get(id)).suppression).toBe('none')
})

it.each([
  [{ types: ['HOT'] }, true],
  [{ types: ['COLD'] }, false],
  [{ prefix: 'pump-' }, true],
  [{ prefix: 'boiler-' }, false],
  [{ tags: { line: '4' } }, false],
  [{ query: { site: 'K1' } }, true],
  [{ query: { site: 'K2' } }, false],
])('selects alarms by %j: %s', async (select, isHeld) => {
  await put('some', { effect: 'suppress', select, until: NOON + HOUR })
  expect((await alarms.as(CALLER).raise(ALARM)).suppression).toBe(isHeld ? 'suppressed' : 'none')
})

it('discards new alarms, counts them, and says so', async () => {
  const open = await alarms.as(CALLER).raise({ ...ALARM, type: 'OPEN' })
  await put('test', { effect: 'discard', select: { prefix: 'pump' }, until: NOON + HOUR })
  const alarm = await alarms.as(CALLER).raise(ALARM)
  expect(alarm).toMatchObject({ discarded: true, holds: [{ by: 'window/test' }] })
  await expect(alarms.as(CALLER).get(alarm.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await alarms.as(CALLER).raise({ ...ALARM, type: 'OPEN' })).toMatchObject({ id: open.id, count: 2 })
  expect((await api().get('test')).discarded).toBe(1)
})

// Holds WINDOW-2
it('pauses tasks, and resumes those that it paused, also after a crash', async () => {
  const select = { resources: ['pump-1'] }
  await put('short', { effect: 'pause', select, until: NOON + HOUR })
  await at(NOON)
  expect([...running]).toEqual(['t9'])
  await put('long', { effect: 'pause', select: { prefix: 'b' }, until: NOON + 2 * HOUR })
  await at(NOON)
  expect([...running]).toEqual([])
  await windows.stop()
  windows = maintenance()
  await windows.start()
  await at(NOON + HOUR)
  expect([...running].toSorted()).toEqual(['t1', 't2'])
  await at(NOON + 2 * HOUR)
  expect([...running].toSorted()).toEqual(['t1', 't2', 't9'])
})

it('recurs by a rule in its zone, over a change of the clock', async () => {
  const rule = {
    rrule: 'FREQ=WEEKLY;BYDAY=SU;BYHOUR=2;BYMINUTE=0;BYSECOND=0',
    zone: 'Europe/Brussels',
    duration: 'PT2H',
  }
  const window = await put('weekly', { effect: 'suppress', select: { types: ['HOT'] }, ...rule })
  expect(window).toMatchObject({
    state: 'planned',
    next: { from: '2026-11-29T01:00:00.000Z', until: '2026-11-29T03:00:00.000Z' },
  })
  clock.now = Date.parse('2026-11-29T02:59:59Z')
  expect((await alarms.as(CALLER).raise(ALARM)).suppression).toBe('suppressed')
  clock.now = Date.parse('2026-11-29T03:00:00Z')
  expect((await alarms.as(CALLER).raise({ ...ALARM, type: 'HOT', source: { id: 'x' } })).suppression).toBe('none')
  clock.now = Date.parse('2027-03-30T00:00:00Z')
  expect((await api().get('weekly')).next?.from).toBe('2027-04-04T00:00:00.000Z')
})

it('warns of overlaps with windows that may be about the same', async () => {
  const until = NOON + HOUR
  await put('a', { effect: 'suppress', select: { resources: ['pump-1'] }, until })
  expect((await put('b', { effect: 'discard', select: { types: ['HOT'] }, until: until + HOUR })).warnings).toEqual([
    'overlaps the window a (suppress) from 2026-11-23T12:00:00.000Z to 2026-11-23T13:00:00.000Z; both apply',
  ])
  expect((await put('c', { effect: 'suppress', select: { resources: ['pump-2'] }, until })).warnings).toHaveLength(1)
  expect((await put('d', { effect: 'suppress', select: { prefix: 'boiler' }, until })).warnings).toHaveLength(1)
  expect(
    (await put('e', { effect: 'suppress', select: { types: ['COLD'], resources: ['x'] }, until })).warnings,
  ).toEqual([])
})

it.each([
  [{ until: NOON - 1 }, '/until', /ends at 2026-11-23T11:59:59.999Z, not after its beginning/],
  [{ from: NOON + HOUR, until: NOON + HOUR }, '/until', /not after its beginning/],
  [{}, '/until', /is required/],
  [{ until: NOON + 1, duration: 'PT1H' }, '/duration', /only for windows with rrule/],
  [{ rrule: 'FREQ=DAILY' }, '/duration', /is required/],
  [{ rrule: 'FREQ=DAILY', duration: 'P40D' }, '/duration', /too long/],
  [{ rrule: 'FREQ=X', duration: 'PT1H' }, '/rrule', /./],
  [{ rrule: 'FREQ=DAILY', duration: 'PT1H', zone: 'Mars' }, '/zone', /is not a time zone/],
  [{ until: NOON + 1, select: {} }, '/select', /is empty/],
  [{ until: NOON + 1, effect: 'pause', select: { types: ['HOT'] } }, '/select/types', /pauses tasks/],
])('rejects %j at %s', async (body, path, message) => {
  const window = { effect: 'suppress', select: { types: ['HOT'] }, ...body }
  await expect(api().put('w', window)).rejects.toMatchObject({
    code: 'VALIDATION',
    issues: [{ path, message: expect.stringMatching(message) as unknown }],
  })
})
