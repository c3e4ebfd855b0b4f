import { Subject } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { AdaptiveListener } from '../../../../src/services/rules/tasks/adaptive-listener.ts'
import type { TenantEvent } from '../../../../src/services/rules/runner.ts'

const SECOND = 1000
const told = (time: number, at?: number): TenantEvent => ({
  tenant: 'acme',
  event: { time, ...(at !== undefined && { at }), task: 't', invocation: 1, type: 'evicted', node: 's', from: 'On' },
})

describe('events in a second', () => {
  it.each([
    [
      'are counted by the clock, when tasks are behind by different times',
      [0, 1, 2, 3].map((i) => told(i * SECOND, 9000)),
      false,
    ],
    ['may be as many in each', [0, 0, 0, 1, 1, 1].map((second) => told(second * SECOND)), true],
    ['may not be more', [0, 0, 0, 0].map((second) => told(second * SECOND)), false],
  ])('%s', (_fact, events, isListening) => {
    const events$ = new Subject<TenantEvent>()
    const listener = new AdaptiveListener(
      events$,
      () => undefined,
      () => undefined,
      { most: 3, later: () => () => undefined },
    )
    for (const event of events) events$.next(event)
    expect(listener.isListening).toBe(isListening)
    listener.close()
  })
})
