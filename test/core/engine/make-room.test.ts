import { describe, expect, it } from 'vitest'
import { makeRoom } from '../../../src/core/engine/make-room.ts'
import type { TaskSettings } from '../../../src/core/rule/rule.ts'
import type { LaneInput } from '../../../src/core/task/input.ts'
import type { TaskModel } from '../../../src/core/task/run.ts'
import { TaskState } from '../../../src/core/task/task-state.ts'

type Values = Readonly<Record<string, unknown>>

function data(...messages: readonly Values[]): LaneInput {
  return { kind: 'data', messages: messages.map((values) => ({ resource: 'r', ...values })) }
}
function command(values: Values): LaneInput {
  return { kind: 'data', messages: [{ resource: 'r', ...values }], sent: { channel: 'command' } }
}
function tick(scheduledAt: number): LaneInput {
  return { kind: 'tick', nodes: [null], scheduledAt }
}

/** Queues inputs, then makes room for another; returns the positions of the dropped and the kept ones. */
function room(whenBusy: TaskSettings['whenBusy'], maxWaiting: number, inputs: readonly LaneInput[], input: LaneInput) {
  // The queue does not look at nodes.
  const state = new TaskState({ sensors: [], gates: [], actuators: [], groups: [] }, 1)
  for (const [i, one] of inputs.entries()) state.wait(i, one)
  const model = { settings: { whenBusy }, maxWaiting } as unknown as TaskModel
  const { mayWait, dropped, why } = makeRoom(state, model, input)
  const places = (list: readonly { time: number }[]) => list.map(({ time }) => time)
  return { mayWait, dropped: places(dropped), waiting: places(state.waiting), why }
}

describe('room for an input', () => {
  it('exists while fewer inputs wait than the limit', () => {
    expect(room('queue', 3, [data({ a: 1 }), data({ a: 2 })], data({ a: 3 }))).toEqual({
      mayWait: true,
      dropped: [],
      waiting: [0, 1],
      why: '',
    })
  })

  it.each<[string, readonly LaneInput[], number]>([
    ['the oldest message goes', [data({ a: 1 }), data({ a: 2 })], 0],
    ['a tick before it stays', [tick(1), tick(2), data({ a: 1 }), data({ a: 2 })], 2],
    ['one on a channel is a message, too', [tick(1), command({ a: 1 }), data({ a: 2 })], 1],
    ['without a message the oldest of all goes', [tick(1), tick(2)], 0],
  ])('is made when too many wait: %s', (_, inputs, place) => {
    const made = room('queue', inputs.length, inputs, data({ a: 3 }))
    expect(made.mayWait).toBe(true)
    expect(made.dropped).toEqual([place])
    expect(made.waiting).toEqual(inputs.map((_one, i) => i).filter((i) => i !== place))
    expect(made.why).toBe(`the oldest of ${inputs.length} waiting messages was dropped`)
  })
})

describe('skip', () => {
  it('drops a message that would have to wait, and keeps waiting inputs', () => {
    const made = room('skip', 3, [tick(1)], data({ a: 1 }))
    expect([made.mayWait, made.dropped, made.waiting]).toEqual([false, [], [0]])
    expect(made.why).toBe('a message was skipped because the task was still processing an earlier one')
  })

  it.each([
    ['a tick', tick(1)],
    ['a message on a channel', command({ a: 1 })],
  ])('queues %s', (_, input) => {
    expect(room('skip', 3, [], input).mayWait).toBe(true)
  })
})

describe('latest', () => {
  it.each<[string, LaneInput, LaneInput, boolean]>([
    ['the same values', data({ a: 1 }), data({ a: 2 }), true],
    ['more values', data({ a: 1 }), data({ a: 2, b: 2 }), true],
    ['fewer values', data({ a: 1, b: 1 }), data({ a: 2 }), false],
    ['null is a value', data({ a: null }), data({ b: 2 }), false],
    ['undefined does not count', data({ a: undefined }), data({ b: 2 }), true],
    ['a timestamp does not count', data({ a: 1, timestamp: 5 }), data({ a: 2 }), true],
    ['an inherited member does not count', data({ toString: 1 }), data({ a: 2 }), false],
    ['another resource', data({ resource: 'q', a: 1 }), data({ a: 2 }), false],
    ['one of several', data({ a: 1 }), data({ resource: 'q', a: 2 }, { a: 2 }), true],
    [
      'several, all with newer values',
      data({ a: 1 }, { resource: 'q', b: 1 }),
      data({ resource: 'q', b: 2 }, { a: 2 }),
      true,
    ],
    ['several, one without', data({ a: 1 }, { resource: 'q', b: 1 }), data({ a: 2 }), false],
    ['an older one on a channel', command({ a: 1 }), data({ a: 2 }), false],
    ['a newer one on a channel', data({ a: 1 }), command({ a: 2 }), false],
    ['a tick', tick(1), data({ a: 2 }), false],
  ])('drops the older message for a newer one: %s', (_, older, newer, isDropped) => {
    const made = room('latest', 3, [older], newer)
    expect([made.mayWait, made.dropped, made.waiting]).toEqual(isDropped ? [true, [0], []] : [true, [], [0]])
  })

  it('drops all messages whose values it contains, and keeps the order of the others', () => {
    const waiting = [data({ a: 1 }), data({ b: 1 }), data({ a: 2 }), tick(1)]
    const made = room('latest', 4, waiting, data({ a: 3 }))
    expect([made.dropped, made.waiting]).toEqual([
      [0, 2],
      [1, 3],
    ])
    expect(made.why).toBe('a waiting message was dropped because a newer one contains all its values')
  })

  it('drops the oldest when too many wait with other values', () => {
    const made = room('latest', 2, [data({ a: 1 }), data({ b: 1 })], data({ c: 1 }))
    expect([made.mayWait, made.dropped, made.waiting]).toEqual([true, [0], [1]])
  })
})
