import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../../src/core/engine/events.ts'
import { Timeline } from '../../../src/cli/report/timeline.ts'
import { plain } from '../../../src/cli/terminal.ts'
import { zoneOf } from '../../../src/cli/zone.ts'
import { answered, fired, START } from './events.ts'

function print(events: readonly EngineEvent[], options: { why?: boolean; all?: boolean; zone?: string } = {}): string {
  let text = ''
  const { why = false, all = false, zone = 'UTC' } = options
  const write = (piece: string) => void (text += piece)
  const timeline = new Timeline({ zone: zoneOf(zone), paint: plain, why, all, width: 6, write })
  for (const event of events) timeline.take(event)
  timeline.end()
  return text
}

describe('Timeline', () => {
  it('prints the chain from the data to the trigger when it is asked why', () => {
    expect(print([fired('alarm'), answered('alarm', 'too hot')], { why: true })).toBe(
      [
        '2025-01-15T08:00:00  alarm   gate is TRUE',
        '                     too hot',
        '                     ├ data    boiler-1: temperature 93.5, pump false',
        '                     ├ sensor  temperature is Above',
        '                     ├ sensor  pump is False (since 2025-01-15T07:59:00)',
        '                     ├ gate    gate is TRUE: AND of temperature Above, pump False',
        '                     └ trigger gate is TRUE, so alarm fires',
        '',
      ].join('\n'),
    )
  })

  it('assigns each of several firings of one moment its own answer', () => {
    const events = [fired('a'), fired('b'), answered('b', 'from b'), answered('a', 'from a')]
    expect(
      print(events)
        .split('\n')
        .map((line) => line.trim().split(/ {2,}/).at(-1)),
    ).toEqual(['gate is TRUE', 'from a', 'gate is TRUE', 'from b', ''])
  })

  it('prints an answer that comes later on a line of its own', () => {
    expect(print([fired('alarm'), answered('alarm', 'sent', START + 60_000)])).toContain(
      '2025-01-15T08:01:00  alarm: sent\n',
    )
  })

  it('names the source alone when no reason was kept', () => {
    const { why: _, ...bare } = fired('alarm')
    expect(print([bare])).toBe('2025-01-15T08:00:00  alarm   gate\n')
  })

  it('cuts a long run in the middle and says how much is left out', () => {
    const events = Array.from({ length: 250 }, (_, i) => fired('alarm', START + i * 1000))
    const lines = print(events).trimEnd().split('\n')
    expect(lines).toHaveLength(201)
    expect(lines[100]).toBe('... 50 more lines in between (--all prints them)')
    expect(lines[99]).toContain('08:01:39')
    expect(lines[101]).toContain('08:02:30')
    expect(print(events, { all: true }).trimEnd().split('\n')).toHaveLength(250)
  })

  it('keeps a message on one line, whatever stands in it', () => {
    expect(print([fired('a'), answered('a', 'one\ntwo\u001b[2J')])).toContain('one two [2J\n')
  })
})
