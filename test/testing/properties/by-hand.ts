/** Builds a checked run by hand, to show properties what the engine never does. */
import type { EngineEvent, FiredEvent } from '../../../src/core/engine/events.ts'
import type { CheckedRun, Moment } from '../../../src/testing/index.ts'
import type { Rule, SavedTask } from '../../../src/index.ts'

const rule: Rule = {
  sensors: [{ label: 's', name: 'any' }],
  relations: [{ label: 'g', type: 'AND', parentLabels: ['s'], combinations: [['On']] }],
  actuators: [
    { label: 'a', name: 'log' },
    { label: 'b', name: 'log' },
  ],
  triggers: [
    { sourceLabel: 'g', destinationLabel: 'a', statesTrigger: ['TRUE'], invocationPolicy: 10 },
    { sourceLabel: 's', destinationLabel: 'a', statesTrigger: ['On'] },
    { sourceLabel: 's', destinationLabel: 'b', statesTrigger: ['On'] },
  ],
}

export function fired(time: number, node = 'a', source = 'g', invocation = 1): FiredEvent {
  return { time, task: 't', invocation, type: 'fired', node, source, effect: `${time}` }
}

export function result(time: number, node = 's', invocation = 1): EngineEvent {
  return { time, task: 't', invocation, type: 'result', node, ok: true }
}

export function moment(time: number, state: string | null = null, ...firings: FiredEvent[]): Moment {
  return { time, fired: firings, failed: [], state: () => state, latest: () => undefined }
}

/** Uses one moment per event, unless moments are given. */
export function runOf(events: readonly EngineEvent[], more: Partial<CheckedRun> = {}): CheckedRun {
  return {
    rule,
    messages: [],
    crashes: [{ after: 2, down: 0, inFlight: false }],
    events,
    moments: events.map((event) => moment(event.time, null, ...(event.type === 'fired' ? [event] : []))),
    from: 0,
    until: 0,
    firings: (node) =>
      events.filter((event) => event.type === 'fired').filter((event) => node === undefined || event.node === node),
    restarted: () => Promise.resolve(runOf(events)),
    again: () => Promise.resolve(runOf(events)),
    unheard: () => Promise.reject(new Error('nobody runs this')),
    saved: () => ({}) as SavedTask,
    unanswered: 0,
    ...more,
  }
}
