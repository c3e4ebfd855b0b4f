/** Calendars of a tenant over a store in memory: versions, warnings, conditions and limits. */
import { beforeEach, expect, it } from 'vitest'
import { Calendars } from '../../../src/services/calendars/service.ts'
import type { CalendarsApi } from '../../../src/services/calendars/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

const MONDAY = Date.UTC(2026, 0, 5, 12)
const OFFICE = { zone: 'UTC', hours: [{ days: ['mon'], from: '08:00', to: '17:00' }] }
const DUTY = { zone: 'UTC', shifts: [{ name: 'day', from: '08:00', to: '20:00', onCall: ['ann'] }] }

let clock: { now: number }
let calendars: Calendars
let api: CalendarsApi
beforeEach(() => {
  clock = { now: MONDAY }
  calendars = new Calendars({ store: openMemory().tenant('acme'), now: () => clock.now })
  api = calendars.as({ tenant: 'acme', user: 'tester' })
})

it('shows the state of a calendar', async () => {
  expect(await api.put('office', OFFICE)).toMatchObject({ created: true, document: { name: 'office', revision: 1 } })
  expect(await api.state('office')).toEqual({
    at: '2026-01-05T12:00:00+00:00',
    open: true,
    shifts: [],
    onCall: [],
    nextChange: '2026-01-05T17:00:00+00:00',
    nextState: '2026-01-05T17:00:00+00:00',
  })
  expect(await api.state('office', MONDAY + 86_400_000)).toMatchObject({ open: false })
  await expect(api.state('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

// Holds CALENDAR-2
it('answers for a past instant by the version of then', async () => {
  await api.put('office', OFFICE)
  clock.now += 3_600_000
  await api.put('office', { ...OFFICE, hours: [] })
  expect((await calendars.reading('office'))?.isOpen(MONDAY + 60_000)).toBe(false)
  expect((await calendars.reading('office', MONDAY + 60_000))?.isOpen(MONDAY + 60_000)).toBe(true)
  expect(await api.versions('office')).toMatchObject([
    { from: '2026-01-05T13:00:00.000Z', hours: [] },
    { from: '2026-01-05T12:00:00.000Z', hours: OFFICE.hours },
  ])
  await api.remove('office')
  await expect(api.versions('office')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await api.put('office', OFFICE)
  expect(await api.versions('office')).toHaveLength(1)
})

it('keeps a hundred versions', async () => {
  for (let i = 0; i < 105; i++) {
    clock.now += 1_000
    await api.put('office', OFFICE)
  }
  const versions = await api.versions('office')
  expect(versions).toHaveLength(100)
  expect(versions[0]?.from).toBe(new Date(clock.now).toISOString())
})

it('warns of gaps in the hand-over', async () => {
  const { document } = await api.put('duty', DUTY)
  expect(document.warnings).toHaveLength(20)
  expect(document.warnings[0]).toBe('no contact is on call from 2026-01-05T20:00:00+00:00 to 2026-01-06T08:00:00+00:00')
  expect((await api.put('office', OFFICE)).document.warnings).toEqual([])
})

it('rejects what it cannot read, with all problems', async () => {
  const wrong = { zone: 'Mars', hours: [{ from: '8', to: '9' }], holidays: [{ rrule: 'FREQ=X' }] }
  await expect(api.put('office', wrong)).rejects.toMatchObject({
    code: 'VALIDATION',
    issues: [{ path: '/zone' }, { path: '/hours/0/from' }, { path: '/hours/0/to' }, { path: '/holidays/0/rrule' }],
  })
  await expect(api.put('..', OFFICE)).rejects.toMatchObject({ code: 'VALIDATION' })
  await expect(api.put('office', { ...OFFICE, zones: 1 })).rejects.toMatchObject({ issues: [{ path: '/zones' }] })
})

it('replaces only the expected revision', async () => {
  await api.put('office', OFFICE, { ifRevision: 'absent' })
  await expect(api.put('office', OFFICE, { ifRevision: 'absent' })).rejects.toMatchObject({ code: 'PRECONDITION' })
  const { document } = await api.put('office', OFFICE, { ifRevision: 1 })
  expect(document.revision).toBe(2)
  await expect(api.remove('office', { ifRevision: 1 })).rejects.toMatchObject({ code: 'PRECONDITION' })
  // what was read can be written as it is
  expect((await api.put('office', document)).document.revision).toBe(3)
})
