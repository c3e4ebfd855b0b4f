import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../../src/index.ts'
import { logPage } from '../../../src/services/rules/inspection/task-log.ts'

const NOON = Date.UTC(2026, 10, 20, 12)
const about = { task: 't', invocation: 1, node: 'page' } as const

describe('a line of the log', () => {
  it("has the time of its input, and also the clock's time if that was ahead", () => {
    const events: EngineEvent[] = [
      { ...about, time: NOON, type: 'log', level: 'INFO', message: 'calls' },
      { ...about, time: NOON, at: NOON + 50_000, type: 'result', ok: false, error: 'no answer' },
    ]
    const numbered = events.map((event, number) => ({ number, event }))
    const { logs } = logPage(numbered, { taskId: 't', until: NOON + 1 })
    expect(logs.map(({ time, at, message }) => [time, at, message])).toEqual([
      ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:50.000Z', 'page failed: no answer'],
      ['2026-11-20T12:00:00.000Z', undefined, 'calls'],
    ])
  })
})
