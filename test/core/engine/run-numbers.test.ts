/** A run never has the number of an earlier one under its id, so that no effect has the id of another. */
import { describe, expect, it } from 'vitest'
import { RunNumbers } from '../../../src/core/engine/run-numbers.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { liveEngine } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'

const simple = (): Rule =>
  rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] })

describe('the number of a run', () => {
  it('is not reused when a task is removed and created again under its id', async () => {
    const { engine, events } = liveEngine()
    const first = (await engine.start(simple(), { id: 'mine' })).save()
    await engine.stop('mine')
    await engine.start('mine')
    await engine.remove('mine', { force: true })
    await engine.start(simple(), { id: 'mine' })
    // the saved run continues at its position, and its next run is a new one
    await engine.remove('mine', { force: true })
    const again = await engine.restore(first)
    expect(again.save().state.run).toBe(1)
    await engine.stop('mine')
    await engine.start('mine')
    const runs = events.flatMap((event) => (event.type === 'started' ? [event.run] : []))
    expect(runs).toEqual([1, 2, 3, 4])
  })

  it('is not reused for a chosen id, even beyond the number of remembered removals', () => {
    const numbers = new RunNumbers()
    numbers.removed('a', 7)
    numbers.removed('never ran', 0)
    for (let i = 0; i < 9_999; i++) numbers.removed(`other ${i}`, 1)
    expect([numbers.lastOf('a', false), numbers.lastOf('unknown', false)]).toEqual([7, 0])
    for (let i = 0; i < 10_000; i++) numbers.removed(`third ${i}`, 1)
    expect([numbers.lastOf('a', false), numbers.lastOf('unknown', true)]).toEqual([7, 0])
  })
})
