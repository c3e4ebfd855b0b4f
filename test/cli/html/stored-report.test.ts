/** Tests the HTML report of a rehearsal on stored data. */
import { expect, it } from 'vitest'
import { pageOf } from '../../../src/cli/html/write-report.ts'
import { reportOfRehearsal } from '../../../src/cli/stored.ts'
import { zoneOf } from '../../../src/cli/zone.ts'
import type { Rehearsal } from '../../../src/services/rules/contract.ts'
import { AppError } from '../../../src/kernel/index.ts'

const RULE = {
  sensors: [{ label: 'hot', name: 'hysteresis', properties: { value: 't', enter: 80, leave: 70 } }],
  task: { name: 'Hot' },
}
const OTHER = {
  sensors: [{ ...RULE.sensors[0], label: 'hot', name: 'hysteresis', properties: { value: 't', enter: 90, leave: 70 } }],
}
const firing = (time: number, resource = 'b') => ({ time, resource, node: 'alarm', source: 'hot' })
const ANSWER: Rehearsal = {
  id: '1',
  status: 'done',
  user: 'u',
  createTime: 0,
  progress: 1,
  coverage: {
    summary: '2 of 3 resources had data',
    resources: { matched: 3, withData: 2 },
    items: [
      {
        resource: 'c',
        fidelity: 'series',
        initialState: 'cold',
        messages: 0,
        from: null,
        until: null,
        gaps: [],
        metrics: {},
      },
      {
        resource: 'a',
        fidelity: 'series',
        initialState: 'cold',
        messages: 9,
        from: 0,
        until: 9,
        gaps: [],
        metrics: { t: { count: 9 } },
      },
      {
        resource: 'b',
        fidelity: 'series',
        initialState: 'cold',
        messages: 9,
        from: 0,
        until: 9,
        gaps: [{ from: 400_000, until: 600_000 }],
        metrics: { t: { count: 9 }, other: { count: 1 } },
      },
    ],
    missingMetrics: ['flow'],
    messages: 18,
    late: 0,
    from: 0,
    until: 1_000_000,
  },
  fidelity: 'series',
  firings: [firing(100_000), firing(300_000), firing(700_000)],
  counts: { firings: 3, effects: 0, events: 0 },
  alarms: { raised: 1, cleared: 0 },
  comparison: {
    added: [{ ...firing(300_000), firing: firing(300_000) }],
    removed: [{ ...firing(800_000), other: firing(800_000) }],
    moved: [{ ...firing(690_000), by: 10_000, firing: firing(700_000), other: firing(690_000) }],
    counts: { equal: 1, added: 1, removed: 1, moved: 1 },
  },
  truncated: false,
}

it('plots what the host has stored, resources with firings first, and skips what was removed meanwhile', async () => {
  const asked: string[] = []
  const series = {
    get: (resource: string, metric: string) => {
      asked.push(`${resource}/${metric}`)
      if (resource === 'a') return Promise.reject(new AppError('NOT_FOUND', 'no such series'))
      return Promise.resolve({
        query: {},
        series: [
          [0, 60, 65],
          [500_000, 85, 91],
          [600_000, null, 'text'],
        ],
      })
    },
  } as unknown as Parameters<typeof reportOfRehearsal>[1]
  const names = { old: 'old.json', new: 'new.json' }
  const run = { answer: ANSWER, rule: RULE, other: OTHER, variables: {}, names, zone: zoneOf('UTC') }
  const report = await reportOfRehearsal(run, series)
  expect(asked.toSorted()).toEqual(['a/t', 'b/t'])
  expect(report).toMatchObject({
    title: 'Hot',
    facts: ['2 of 3 resources had data', expect.stringContaining('1970'), 'no resource has the metric flow'],
    resources: [
      { resource: 'b', metrics: [{ name: 't', points: [{ time: 0 }, { time: 0 }, { value: 85 }, { value: 91 }] }] },
      { resource: 'a', metrics: [] },
    ],
    firings: [
      { time: 100_000, version: 'both' },
      { time: 300_000, version: 'new' },
      { time: 700_000, version: 'both', moved: { by: '10 s later', from: 690_000 } },
      { time: 800_000, version: 'old' },
    ],
  })
  const page = report === undefined ? '' : pageOf(report)
  expect(page).toContain('no data from 1970-01-01 00:06:40 until 1970-01-01 00:10:00')
  expect(page.match(/class="limit (old|new)" d/g)).toHaveLength(4)
})

it('makes no report of a rehearsal without a result', async () => {
  const { coverage: _coverage, ...failed } = ANSWER
  const run = { answer: failed, rule: RULE, other: undefined, variables: {}, names: { new: 'r' }, zone: zoneOf('UTC') }
  expect(await reportOfRehearsal(run, {} as Parameters<typeof reportOfRehearsal>[1])).toBeUndefined()
})
