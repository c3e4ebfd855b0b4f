/** Policies: whom an alarm notifies, when, how often, and in which groups. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ALARM, MAIL, notificationBench, type NotificationBench } from './support.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let bench: NotificationBench
beforeEach(async () => {
  bench = await notificationBench()
  for (const name of ['ann', 'bob', 'eve']) {
    await bench.api.contacts.put(name, { channels: [{ type: 'email', to: [`${name}@example.com`] }] })
  }
})
afterEach(() => bench.stop())

const mailed = (): readonly string[] =>
  bench.sent.map(({ to, content }) => `${to.split('@')[0]}: ${content.split('\n')[0]}`)

it('notifies at once, once, and when the alarm clears', async () => {
  await bench.api.policies.put('all', { contacts: ['ann'] })
  const { id } = await bench.raise.raise(ALARM)
  await bench.advance(200)
  expect(mailed()).toEqual(['ann: [MAJOR] HOT at boiler-1: 93 degrees'])
  await bench.raise.raise(ALARM)
  await bench.advance(HOUR)
  expect(mailed()).toHaveLength(1)
  await bench.raise.update(id, { status: 'CLEARED' })
  await bench.advance(200)
  expect(mailed().slice(1)).toEqual(['ann: [MAJOR] cleared: HOT at boiler-1: 93 degrees'])
  await bench.raise.raise(ALARM)
  await bench.advance(200)
  expect(mailed()).toHaveLength(3)
  const { notifications } = await bench.api.notifications.list({ alarm: id })
  expect(notifications.map(({ kind, state, receipt }) => [kind, state, receipt])).toEqual([
    ['cleared', 'delivered', '250 accepted'],
    ['raised', 'delivered', '250 accepted'],
  ])
})

it.each([
  [{ severities: ['CRITICAL'] }, false],
  [{ severities: ['MAJOR', 'CRITICAL'] }, true],
  [{ types: ['COLD'] }, false],
  [{ resources: ['boiler-1'], types: ['HOT'] }, true],
  [{ prefix: 'boiler-' }, true],
  [{ prefix: 'pump-' }, false],
  [{ tags: { line: '3' } }, true],
  [{ tags: { line: '4' } }, false],
])('selects by %j: %s', async (select, isWanted) => {
  await bench.api.policies.put('some', { contacts: ['ann'], select })
  await bench.raise.raise(ALARM)
  await bench.advance(200)
  expect(mailed()).toHaveLength(isWanted ? 1 : 0)
})

it('notifies when a rising severity begins to match', async () => {
  await bench.api.policies.put('critical', { contacts: ['ann'], select: { severities: ['CRITICAL'] } })
  const { id } = await bench.raise.raise(ALARM)
  await bench.advance(200)
  await bench.raise.update(id, { severity: 'CRITICAL' })
  await bench.advance(200)
  await bench.raise.update(id, { assignee: 'joe' })
  await bench.advance(200)
  expect(mailed()).toEqual(['ann: [CRITICAL] HOT at boiler-1: 93 degrees'])
})

it('escalates until the alarm is acknowledged', async () => {
  await bench.api.policies.put('duty', {
    contacts: ['ann'],
    after: 'PT1M',
    escalate: [
      { after: 'PT10M', contacts: ['bob'] },
      { after: 'PT10M', contacts: ['eve'] },
    ],
  })
  const { id } = await bench.raise.raise(ALARM)
  await bench.advance(30_000)
  expect(mailed()).toEqual([])
  await bench.advance(MINUTE)
  expect(mailed()).toEqual(['ann: [MAJOR] HOT at boiler-1: 93 degrees'])
  await bench.advance(10 * MINUTE)
  expect(mailed().slice(1)).toEqual(['bob: [MAJOR] escalated: HOT at boiler-1: 93 degrees'])
  await bench.raise.update(id, { status: 'ACKNOWLEDGED' })
  await bench.advance(HOUR)
  expect(mailed()).toHaveLength(2)
  await bench.raise.update(id, { status: 'CLEARED' })
  await bench.advance(200)
  expect(mailed().slice(2).toSorted()).toEqual([
    'ann: [MAJOR] cleared: HOT at boiler-1: 93 degrees',
    'bob: [MAJOR] cleared: HOT at boiler-1: 93 degrees',
  ])
})

it('does not escalate an alarm that was deleted', async () => {
  await bench.api.policies.put('duty', { contacts: ['ann'], after: 'PT1M' })
  const { id } = await bench.raise.raise(ALARM)
  await bench.advance(200)
  await bench.raise.remove(id)
  await bench.advance(HOUR)
  expect(mailed()).toEqual([])
})

it('notifies who is on call, by shifts', async () => {
  const shifts = [
    { name: 'day', from: '08:00', to: '20:00', onCall: ['ann'] },
    { name: 'night', from: '20:00', to: '08:00', onCall: ['bob'] },
  ]
  await bench.calendars.put('duty', { zone: 'UTC', shifts })
  await bench.api.policies.put('duty', {
    onCall: 'duty',
    onClear: false,
    escalate: [{ after: 'PT9H', onCall: 'duty' }],
  })
  await bench.raise.raise(ALARM)
  await bench.advance(10 * HOUR)
  expect(mailed().map((line) => line.split(' ')[0])).toEqual(['ann:', 'bob:'])
  expect(await bench.api.onCall()).toEqual({
    at: '2026-11-23T22:00:00.000Z',
    calendars: [{ calendar: 'duty', contacts: ['bob'], shifts: ['night'], until: '2026-11-24T08:00:00.000Z' }],
  })
  await expect(bench.api.onCall({ calendar: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

it('lists a notification without a contact on call as failed', async () => {
  await bench.calendars.put('duty', {
    zone: 'UTC',
    shifts: [{ name: 'am', from: '00:00', to: '06:00', onCall: ['ann'] }],
  })
  await bench.api.policies.put('duty', { onCall: 'duty' })
  await bench.raise.raise(ALARM)
  await bench.advance(200)
  const { notifications } = await bench.api.notifications.list({ state: 'failed' })
  expect(notifications).toMatchObject([{ contact: '', lastError: 'no contact is on call' }])
})

it('waits outside its hours, or skips', async () => {
  await bench.calendars.put('office', { zone: 'UTC', hours: [{ from: '14:00', to: '17:00' }] })
  await bench.api.policies.put('waits', { contacts: ['ann'], during: 'office' })
  await bench.api.policies.put('skips', { contacts: ['bob'], during: 'office', outside: 'skip' })
  const { id } = await bench.raise.raise(ALARM)
  await bench.advance(HOUR)
  expect(mailed()).toEqual([])
  await bench.advance(HOUR)
  expect(mailed()).toEqual(['ann: [MAJOR] HOT at boiler-1: 93 degrees'])
  await bench.raise.update(id, { status: 'CLEARED' })
  await bench.advance(200)
  expect(mailed()).toHaveLength(2)
})

it('groups alarms of a resource, and sends later ones together', async () => {
  await bench.api.policies.put('all', {
    contacts: ['ann'],
    onClear: false,
    group: { by: 'resource', wait: '10s', interval: '5m' },
  })
  for (const type of ['A', 'B', 'C']) await bench.raise.raise({ ...ALARM, type })
  await bench.raise.raise({ ...ALARM, source: { id: 'pump' } })
  await bench.advance(9_000)
  expect(mailed()).toEqual([])
  await bench.advance(2_000)
  expect(mailed().toSorted()).toEqual(['ann: [MAJOR] 3 alarms', 'ann: [MAJOR] HOT at pump: 93 degrees'])
  for (const type of ['D', 'E']) await bench.raise.raise({ ...ALARM, type })
  await bench.advance(4 * MINUTE)
  expect(mailed()).toHaveLength(2)
  await bench.advance(MINUTE)
  expect(mailed().slice(2)).toEqual(['ann: [MAJOR] 2 alarms'])
})

it('sends what exceeds its limit in one digest', async () => {
  await bench.api.policies.put('all', { contacts: ['ann'], onClear: false, limit: { count: 2, per: '1h' } })
  for (let i = 0; i < 70; i++) await bench.raise.raise({ ...ALARM, type: `T${i}` })
  await bench.advance(MINUTE)
  expect(mailed()).toHaveLength(2)
  await bench.advance(HOUR)
  expect(mailed().slice(2)).toEqual(['ann: [MAJOR] 68 alarms'])
  expect(bench.sent.at(-1)?.content).toContain('and 18 more')
})

it('sends a digest at its interval', async () => {
  await bench.api.policies.put('daily', { contacts: ['ann'], onClear: false, digest: '1h' })
  await bench.raise.raise(ALARM)
  await bench.advance(30 * MINUTE)
  await bench.raise.raise({ ...ALARM, type: 'COLD' })
  expect(mailed()).toEqual([])
  await bench.advance(31 * MINUTE)
  expect(mailed()).toEqual(['ann: [MAJOR] 2 alarms'])
})

// Holds NOTIFY-5
it('lets another policy take over, and rejects loops of policies', async () => {
  await bench.api.policies.put('managers', { contacts: ['eve'], select: { types: ['NONE'] } })
  await bench.api.policies.put('team', { contacts: ['ann'], escalate: [{ after: 'PT5M', policy: 'managers' }] })
  await bench.raise.raise(ALARM)
  await bench.advance(6 * MINUTE)
  expect(mailed().map((line) => line.split(' ')[0])).toEqual(['ann:', 'eve:'])
  const back = { contacts: ['eve'], escalate: [{ after: 'PT5M', policy: 'team' }] }
  await expect(bench.api.policies.put('managers', back)).rejects.toMatchObject({
    code: 'VALIDATION',
    issues: [{ path: '/escalate/0/policy', message: 'forms a loop: managers -> team -> managers' }],
  })
  const self = { contacts: ['eve'], escalate: [{ after: 'PT5M', policy: 'self' }] }
  await expect(bench.api.policies.put('self', self)).rejects.toMatchObject({ code: 'VALIDATION' })
})

it('warns of what a policy names in vain', async () => {
  const policy = { contacts: ['ann', 'joe'], onCall: 'duty', escalate: [{ after: '1m', policy: 'next' }] }
  const { document } = await bench.api.policies.put('p', policy)
  expect(document.warnings).toEqual([
    'the contact joe does not exist',
    'the calendar duty does not exist',
    'the policy next does not exist',
  ])
})

// Holds NOTIFY-1
it('counts each event once over restarts', async () => {
  await bench.api.policies.put('all', { contacts: ['ann'] })
  for (let i = 0; i < 5; i++) {
    await bench.raise.raise({ ...ALARM, type: `T${i}` })
    if (i % 2 === 0) await bench.advance(200)
    await bench.restart()
  }
  await bench.advance(1_000)
  expect(mailed().toSorted()).toEqual([0, 1, 2, 3, 4].map((i) => `ann: [MAJOR] T${i} at boiler-1: 93 degrees`))
  expect(new Set(bench.sent.map(({ id }) => id)).size).toBe(5)
})

it('rejects wrong documents with all problems', async () => {
  await expect(bench.api.policies.put('p', {})).rejects.toMatchObject({ code: 'VALIDATION' })
  await expect(
    bench.api.policies.put('p', { contacts: [], group: { by: 'x' }, digest: '1h', outside: 'skip' }),
  ).rejects.toMatchObject({
    issues: expect.arrayContaining([
      expect.objectContaining({ path: '/contacts' }),
      expect.objectContaining({ path: '/group/by' }),
      expect.objectContaining({ path: '/digest' }),
      expect.objectContaining({ path: '/outside' }),
    ]) as unknown,
  })
  const channels = [
    { type: 'email', to: ['ann@example.com\r\nBcc: all@example.com'] },
    { type: 'email' },
    { type: 'webhook', url: 'https://x.example', headers: { 'X-A': 'a\nb', Host: 'y', 'bad name': 'z' } },
    { type: 'webhook', url: 'mqtts://x.example', to: ['ann@example.com'], body: { text: '{{#each}' } },
    { type: 'mqtt', url: 'mqtts://x.example' },
  ]
  const refused: unknown = await bench.api.contacts.put('x', { channels }).catch((error: unknown) => error)
  expect((refused as { issues: { path: string }[] }).issues.map(({ path }) => path).toSorted()).toEqual([
    '/channels/0/to/0',
    '/channels/1/to',
    '/channels/2/headers/Host',
    '/channels/2/headers/X-A',
    '/channels/2/headers/bad name',
    '/channels/3/to',
    '/channels/3/url',
    '/channels/4/topic',
  ])
  await expect(
    bench.api.contacts.put('x', {
      channels: [{ type: 'webhook', url: 'https://x.example', body: { text: '{{#each}' } }],
    }),
  ).rejects.toMatchObject({ code: 'VALIDATION', issues: [{ path: '/channels/0/body/text' }] })
  expect((await bench.api.contacts.list()).map(({ name }) => name)).not.toContain('x')
  expect(MAIL.channels).toHaveLength(1)
})
