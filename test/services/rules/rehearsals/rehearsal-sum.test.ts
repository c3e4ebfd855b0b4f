import { expect, it } from 'vitest'
import { RehearsalSum } from '../../../../src/services/rules/rehearsals/rehearsal-sum.ts'
import type { RehearsalPart } from '../../../../src/services/rules/rehearsals/rehearsal-run.ts'
import type { CoverageItem, Fidelity } from '../../../../src/services/rules/rehearsals/rehearsal-schema.ts'
import type { RehearsalWork } from '../../../../src/services/rules/rehearsals/rehearsal-work.ts'

const WORK = { messages: undefined, variants: [], from: 0, until: 1, calls: 'none', mostEvents: 10 } as const
const OPTIONS = { id: 'r', sweep: undefined, showsEvents: false }

function partOf(items: readonly CoverageItem[]): RehearsalPart {
  const messages = items.reduce((sum, item) => sum + item.messages, 0)
  const counts = { firings: 0, effects: 0, events: 0 }
  const lists = { firings: [], effects: [], events: [], nodes: [], differences: [], variants: [] }
  const calls = { notMade: {}, current: {} }
  const alarms = { raised: 0, cleared: 0, occurrences: [] }
  return { ...lists, ...calls, items, reads: [], messages, late: 0, counts, alarms, differenceCounts: undefined }
}

function itemOf(resource: string, messages: number, fidelity: Fidelity = 'inputs'): CoverageItem {
  const range = { from: null, until: null, gaps: [], metrics: {} }
  return { resource, fidelity, initialState: 'cold', messages, ...range }
}

it('lists at most 1,000 resources, the ones without data first, and counts all', () => {
  const sum = new RehearsalSum(WORK as unknown as RehearsalWork)
  const resources = Array.from({ length: 1_200 }, (_, i) => itemOf(`r${i}`, i < 900 ? 1 : 0))
  for (let i = 0; i < 1_200; i += 20) sum.add(partOf(resources.slice(i, i + 20)))
  const { coverage, truncated } = sum.answer(OPTIONS)
  expect(coverage.resources).toEqual({ matched: 1_200, withData: 900 })
  expect(coverage.items).toHaveLength(1_000)
  expect(coverage.items.findIndex(({ messages }) => messages > 0)).toBe(300)
  expect(truncated).toBe(true)
})

it('is of series as soon as one resource is', () => {
  const sum = new RehearsalSum(WORK as unknown as RehearsalWork)
  sum.add(partOf([itemOf('a', 1)]))
  expect(sum.answer(OPTIONS).fidelity).toBe('inputs')
  sum.add(partOf([itemOf('b', 1, 'series'), itemOf('c', 1)]))
  expect(sum.answer(OPTIONS).fidelity).toBe('series')
})

const DAY = 86_400_000
const raise = (second: number, source = 'boiler') => {
  return { time: second * 1_000, source, type: 'HOT', severity: 'MINOR' as const, isHeld: false }
}
const raising = (...occurrences: readonly ReturnType<typeof raise>[]): RehearsalPart => {
  return { ...partOf([]), alarms: { raised: occurrences.length, cleared: 0, occurrences: [...occurrences] } }
}

it('has the figures of the alarms of all resources', () => {
  const sum = new RehearsalSum({ ...WORK, until: DAY } as unknown as RehearsalWork)
  sum.add(raising(...Array.from({ length: 12 }, (_, i) => raise(i))))
  sum.add(raising(raise(599, 'other'), raise(700, 'other')))
  expect(sum.answer(OPTIONS).alarms).toMatchObject({
    raised: 14,
    figures: {
      alarms: 14,
      perDay: 14,
      peak: { alarms: 13 },
      flood: { count: 1, floods: [{ alarms: 13 }] },
      top: [{ source: 'boiler', alarms: 12 }, { source: 'other' }],
      chattering: { count: 1 },
    },
  })
})

it('has no figures where not all alarms are known', () => {
  const sum = new RehearsalSum({ ...WORK, until: DAY } as unknown as RehearsalWork)
  sum.add({ ...partOf([]), alarms: { raised: 2, cleared: 0, occurrences: [raise(1)] } })
  expect(sum.answer(OPTIONS).alarms).toEqual({ raised: 2, cleared: 0 })
})
