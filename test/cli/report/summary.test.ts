import { describe, expect, it } from 'vitest'
import { type RunFacts, summaryLines } from '../../../src/cli/report/run-report.ts'
import { Tally } from '../../../src/cli/report/tally.ts'
import { plain } from '../../../src/cli/terminal.ts'
import { zoneOf } from '../../../src/cli/zone.ts'
import { answered, failed, fired, held, START } from './events.ts'

const rule = {
  sensors: [{ label: 'temperature', name: 'inRange' }],
  relations: [{ label: 'gate', type: 'AND', parentLabels: ['temperature'], combinations: [['Above']] }],
  actuators: [{ label: 'alarm', name: 'log' }],
} as const
const facts = { messages: 1440, late: 0, span: 86_340_000, wall: 90 }

const lines = (tally: Tally, more: Partial<RunFacts> = {}) =>
  summaryLines(tally, { ...facts, ...more }, zoneOf('UTC'), plain)

describe('summaryLines', () => {
  it('counts executions, changes, firings, what was held back, and errors', () => {
    const tally = new Tally(rule)
    const change = {
      time: START,
      task: 't',
      invocation: 7,
      type: 'state',
      node: 'temperature',
      from: null,
      to: 'Above',
    } as const
    const events = [
      change,
      fired('alarm'),
      answered('alarm', 'x'),
      held('alarm', 'invocationPolicy'),
      held('alarm', 'overlap'),
    ]
    for (const event of [...events, failed('temperature', 'no value')]) tally.take(event)
    expect(lines(tally).slice(1, 4)).toEqual([
      'temperature  inRange          1        1      -       1',
      'gate         AND              -        -      -       -',
      'alarm        log              1        -      1       -  1 by cool-down, 1 by unfinished work',
    ])
    expect(tally.invocations).toBe(7)
  })

  it('counts no change when a state is forgotten at the begin of an invocation and comes back', () => {
    const tally = new Tally(rule)
    const seen = (to: string | null, from: string | null = null) =>
      tally.take({ time: START, task: 't', invocation: 1, type: 'state', node: 'temperature', from, to })
    seen('Above')
    seen('Above')
    seen('Below')
    expect(tally.nodes[0]?.changes).toBe(2)
    tally.take({ time: START, task: 't', invocation: 1, type: 'evicted', node: 'temperature', from: 'Below' })
    seen('Below')
    expect(tally.nodes[0]?.changes).toBe(3)
  })

  it('shows errors that differ in numbers only once, with a count and the first time', () => {
    const tally = new Tally(rule)
    for (let i = 0; i < 37; i++) tally.take(failed('temperature', `value ${i} is no temperature`, START + i * 60_000))
    tally.take(failed('alarm', 'the line is dead'))
    expect(lines(tally)).toContain(
      'error  temperature: value 0 is no temperature (37 times, first at 2025-01-15T08:00:00)',
    )
    expect(lines(tally)).toContain('error  alarm: the line is dead (once, at 2025-01-15T08:00:00)')
  })

  it('cuts a long list of errors', () => {
    const tally = new Tally(rule)
    for (let i = 0; i < 14; i++) tally.take(failed('alarm', `error ${'x'.repeat(i)}`))
    expect(lines(tally)).toContain('error  and 4 more kinds')
  })

  it('mentions late messages and a failed task', () => {
    const tally = new Tally(rule)
    tally.take({ time: START, task: 't', invocation: 1, type: 'failed', error: 'it broke' })
    expect(lines(tally, { late: 2 })).toContain('2 messages had a timestamp before the time of the clock')
    const readings = { late: 1, duplicate: 2, skewed: 0 }
    expect(lines(tally, { readings })).toContain('readings out of order: 1 late, 2 duplicate')
    expect(lines(tally)).toContain('the task failed: it broke')
  })
})
