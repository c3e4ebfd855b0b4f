import { expect, it } from 'vitest'
import { LogGate } from '../../../src/platform/sandbox/log-gate.ts'

it('passes a limited number of lines a second, and reports how many it dropped', () => {
  let now = 0
  const passed: string[] = []
  const gate = new LogGate(
    2,
    () => now,
    ({ text }) => passed.push(text),
  )
  const say = (...texts: readonly string[]): void => {
    for (const text of texts) gate.add({ level: 'info', text })
  }
  say('a', 'b', 'c', 'd')
  now = 1_000
  say('e')
  say('f', 'g')
  gate.end()
  const dropped = (count: number): string => `${count} lines were dropped: the limit is 2 a second`
  expect(passed).toEqual(['a', 'b', dropped(2), 'e', 'f', dropped(1)])
})
