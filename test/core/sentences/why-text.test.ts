import { describe, expect, it } from 'vitest'
import type { Why, WhyTrigger } from '../../../src/core/engine/events.ts'
import { conditionText, whySteps } from '../../../src/core/sentences/why-text.ts'
import { hotAndStill, START } from '../../cli/report/events.ts'

const time = (instant: number) => new Date(instant).toISOString().slice(0, 19)
const lines = (why: Partial<Why>) =>
  whySteps({ ...hotAndStill, ...why }, time).map(({ kind, text }) => `${kind} ${text}`)

describe('conditionText', () => {
  it.each([
    [{ matched: 'state', from: null, to: 'TRUE' }, 'a is TRUE'],
    [{ matched: 'change', from: 'TRUE', to: 'FALSE' }, 'a went from TRUE to FALSE'],
    [{ matched: 'change', from: null, to: 'TRUE' }, 'a became TRUE'],
    [{ matched: 'execution', from: null, to: null }, 'a has run'],
  ] satisfies [Partial<WhyTrigger>, string][])('%j reads "%s"', (part, expected) => {
    expect(conditionText({ source: 'a', destination: 'b', ...part })).toBe(expected)
  })
})

describe('the steps of a firing', () => {
  it.each([
    [{ kind: 'tick', time: START, scheduledAt: START }, 'tick of the task, due 2025-01-15T08:00:00'],
    [{ kind: 'ownTick', time: START, scheduledAt: START, node: 'a' }, 'tick of a, due 2025-01-15T08:00:00'],
    [{ kind: 'push', time: START, node: 'a' }, 'a value pushed into a'],
    [{ kind: 'run', time: START, node: 'a' }, 'manual run of a'],
    [{ kind: 'start', time: START }, 'the start of the task'],
    [{ kind: 'data', time: START, resource: 'r', values: {} }, 'r: a message without values'],
    [{ kind: 'data', time: START, resource: 'r', values: { t: Number.NaN, s: 'x', timestamp: 1 } }, 'r: t NaN, s "x"'],
  ] satisfies [Why['input'], string][])('begin with %j', (input, expected) => {
    expect(lines({ input })[0]).toBe(`data ${expected}`)
  })

  it('shorten wide messages', () => {
    const values = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`k${i}`, i === 0 ? 'x'.repeat(90) : i]))
    const [first = ''] = lines({ input: { kind: 'data', time: START, resource: 'r', values } })
    expect(first).toMatch(/k0 "x+\.\.\., k1 1, .*k7 7, and 4 more$/)
  })

  it('name the other message that led to the state of a sensor', () => {
    const input = { kind: 'data', time: START - 2000, resource: 'door', values: { contact: 'open' } } as const
    const sensors = [{ node: 'open', state: 'True', since: START - 2000, input }]
    expect(lines({ sensors })).toContain('sensor open is True (since 2025-01-15T07:59:58, door: contact "open")')
  })

  it('include unknown sensors and the triggers that led to the source', () => {
    const via = [{ source: 'beat', destination: 'wait', time: START - 1000 }]
    const found = lines({ via, sensors: [{ node: 'a', state: null }], gates: [] })
    expect(found).toContain('via beat ran wait at 2025-01-15T07:59:59')
    expect(found).toContain('sensor a is unknown')
  })
})
