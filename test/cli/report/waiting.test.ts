import { describe, expect, it } from 'vitest'
import type { SavedExecution, SavedState } from '../../../src/core/task/saved.ts'
import { waitingLines } from '../../../src/cli/report/run-report.ts'
import { zoneOf } from '../../../src/cli/zone.ts'
import { START } from './events.ts'

const idle: SavedState = {
  status: 'running',
  run: 1,
  inputs: 1,
  effects: 0,
  invocations: 1,
  executions: 1,
  startTime: START,
  lastExecutionTime: START,
  finishedTime: 0,
  seed: 1,
  origins: [],
  links: [],
  sensors: {},
  gates: {},
  actuators: {},
  streams: {},
}

const waiting = (node: string, wakeAt?: number): SavedExecution => {
  const execution: SavedExecution = { id: 1, node, invocation: 1, origin: 0, input: 1, place: 0, phase: 'holding' }
  return wakeAt === undefined ? execution : { ...execution, wakeAt }
}

const lines = (more: Partial<SavedState>) => waitingLines({ ...idle, ...more }, zoneOf('UTC'))

describe('waitingLines', () => {
  it('returns no hint for a call that no clock can end', () => {
    expect(lines({ executing: [waiting('a')] })).toEqual(['1 execution unfinished at the end: a'])
  })

  it('cuts a long list', () => {
    const executing = Array.from({ length: 9 }, (_, i) => waiting(`n${i}`))
    expect(lines({ executing })).toEqual(['9 executions unfinished at the end: n0, n1, n2, n3, n4, and 4 more'])
  })
})
