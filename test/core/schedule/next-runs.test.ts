import { describe, expect, it } from 'vitest'
import { expressionKind } from '../../../src/core/schedule/expression.ts'
import { nextRuns } from '../../../src/core/schedule/next-runs.ts'

const zone = 'Europe/Brussels'
const from = Date.UTC(2026, 2, 27, 12)
const times = (result: ReturnType<typeof nextRuns>) => result.runs.map((run) => [run.scheduledAt, run.note])

describe('the next runs of an expression', () => {
  it('are marked at clock changes', () => {
    const spring = nextRuns('0 30 2 * * ?', { zone, from, count: 3 })
    expect([spring.kind, spring.zone]).toEqual(['cron', zone])
    expect(times(spring)).toEqual([
      ['2026-03-28T02:30:00+01:00', undefined],
      ['2026-03-29T03:30:00+02:00', 'gap-shifted'],
      ['2026-03-30T02:30:00+02:00', undefined],
    ])
    expect(spring.runs[1]?.at).toBe(Date.UTC(2026, 2, 29, 1, 30))
    const autumn = nextRuns('0 30 2 * * ?', {
      zone,
      from: Date.UTC(2026, 9, 24, 12),
      count: 2,
      dst: { overlap: 'both' },
    })
    expect(times(autumn)).toEqual([
      ['2026-10-25T02:30:00+02:00', 'overlap-first'],
      ['2026-10-25T02:30:00+01:00', 'overlap-second'],
    ])
  })

  it('are not marked as shifted if their local time exists', () => {
    const runs = times(nextRuns('0 30 * * * ?', { zone, from: Date.UTC(2026, 2, 29), count: 3 }))
    expect(runs.map(([, note]) => note)).toEqual([undefined, undefined, undefined])
  })

  it('can be those of a rule, which starts there', () => {
    const result = nextRuns('FREQ=DAILY;INTERVAL=2', { zone, from, count: 2 })
    expect(result.kind).toBe('rrule')
    expect(times(result).map(([at]) => at)).toEqual(['2026-03-29T13:00:00+02:00', '2026-03-31T13:00:00+02:00'])
  })

  it('include one at the requested start itself', () => {
    const at = Date.UTC(2026, 2, 28, 6)
    expect(nextRuns('0 0 6 * * ?', { from: at, count: 2 }).runs.map((run) => run.at)).toEqual([at, at + 86_400_000])
    expect(nextRuns('0 0 6 * * ?', { from: at + 1, count: 1 }).runs.map((run) => run.at)).toEqual([at + 86_400_000])
  })

  it.each([
    ['0 9 13 * 5', /day-of-month "13" and day-of-week "5" .* either/],
    ['0 9 13 * *', undefined],
    ['0 9 * * 5', undefined],
    ['0 9 ? * FRI', undefined],
  ])('of %s have the warning %s', (expression, warning) => {
    const found = nextRuns(expression, { from }).warning
    if (warning === undefined) expect(found).toBeUndefined()
    else expect(found).toMatch(warning)
  })

  it('are ten by default, or fewer if the schedule ends', () => {
    expect(nextRuns('* * * * *', { from }).runs).toHaveLength(10)
    expect(nextRuns('FREQ=DAILY;COUNT=3', { from }).runs).toHaveLength(2)
  })

  it.each([0, -1, 1.5, 10_001, Number.NaN])('cannot be %s', (count) => {
    expect(() => nextRuns('* * * * *', { from, count })).toThrow(`count: ${count} is out of range; use 1 to 10000`)
  })

  it('are validated like any schedule', () => {
    expect(() => nextRuns('0 61 * * * ?', { from, zone: 'Europe/Brusels' })).toThrow(/2 problems/)
  })
})

describe('gap and overlap days of two years', () => {
  const changes = (expression: string, dst = {}) =>
    nextRuns(expression, { zone, from, dst }).changes.map((change) => [
      change.day,
      change.kind,
      change.count,
      change.touched[0],
    ])

  it('are listed with the effect on each run', () => {
    expect(changes('0 30 2 * * ?').slice(0, 2)).toEqual([
      [
        '2026-03-29',
        'gap',
        1,
        { local: '2026-03-29T02:30:00', effect: 'shifted', runsAt: ['2026-03-29T03:30:00+02:00'] },
      ],
      [
        '2026-10-25',
        'overlap',
        1,
        { local: '2026-10-25T02:30:00', effect: 'first', runsAt: ['2026-10-25T02:30:00+02:00'] },
      ],
    ])
    expect(changes('0 30 2 * * ?')).toHaveLength(5)
    expect(
      changes('0 30 2 * * ?', { gap: 'skip', overlap: 'both' })
        .slice(0, 2)
        .map(([, , , touched]) => touched),
    ).toEqual([
      { local: '2026-03-29T02:30:00', effect: 'skipped', runsAt: [] },
      {
        local: '2026-10-25T02:30:00',
        effect: 'both',
        runsAt: ['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:00+01:00'],
      },
    ])
  })

  it('report a shifted run that coincides with another', () => {
    expect(changes('0 */15 * * * ?')[0]).toEqual([
      '2026-03-29',
      'gap',
      4,
      { local: '2026-03-29T02:00:00', effect: 'merged', runsAt: ['2026-03-29T03:00:00+02:00'] },
    ])
  })

  it('are omitted when the schedule is not affected, or has ended', () => {
    expect(changes('0 0 12 * * ?')).toEqual([])
    expect(changes('DTSTART:20260101T023000\nRRULE:FREQ=DAILY;UNTIL=20260328')).toEqual([])
    expect(nextRuns('0 30 2 * * ?', { from }).changes).toEqual([])
    expect(nextRuns('0 0 12 * * ?', { zone, from }).untouched).toEqual([
      '2026-03-29',
      '2026-10-25',
      '2027-03-28',
      '2027-10-31',
      '2028-03-26',
    ])
  })

  it('are counted, and only the first ones are shown', () => {
    const [gap] = nextRuns('* * * * * ?', { zone, from }).changes
    expect([gap?.count, gap?.touched.length]).toEqual([1000, 5])
  })
})

describe('a downtime', () => {
  it('includes its start and excludes its end', () => {
    const down = { from: Date.UTC(2026, 2, 28, 12), to: Date.UTC(2026, 2, 30, 12) }
    expect(nextRuns('0 0 12 * * ?', { from, down }).downtime?.all.run).toEqual([
      '2026-03-28T12:00:00+00:00',
      '2026-03-29T12:00:00+00:00',
    ])
  })

  it('before the first requested run has the previous run of the same rule', () => {
    const down = { from: from - 3_600_000, to: from }
    expect(nextRuns('FREQ=MINUTELY;INTERVAL=20', { from, down }).downtime?.skip.skipped).toBe(3)
  })

  it('shows the runs that each policy executes and skips', () => {
    const down = { from: Date.UTC(2026, 2, 28, 0), to: Date.UTC(2026, 2, 30, 12), cap: 2 }
    expect(nextRuns('0 30 2 * * ?', { zone, from, down }).downtime).toEqual({
      skip: { run: [], skipped: 3, isExact: true },
      once: { run: ['2026-03-30T02:30:00+02:00'], skipped: 2, isExact: true },
      all: { run: ['2026-03-29T03:30:00+02:00', '2026-03-30T02:30:00+02:00'], skipped: 1, isExact: true },
    })
  })
})

it.each([
  ['0 0 12 * * ?', 'cron'],
  ['FREQ=DAILY', 'rrule'],
  ['RRULE:FREQ=DAILY', 'rrule'],
  ['DTSTART:20260101T000000\nRRULE:FREQ=DAILY', 'rrule'],
] as const)('%j is a %s', (expression, kind) => {
  expect(expressionKind(expression)).toBe(kind)
})
