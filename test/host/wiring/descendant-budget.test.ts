/** Tests the limit on what rules may create in response to one arriving message. */
import { describe, expect, it } from 'vitest'
import { DescendantBudget, withinBudget } from '../../../src/host/wiring/descendant-budget.ts'
import type { Cause, DataPort } from '../../../src/core/ports.ts'
import { AppError } from '../../../src/kernel/errors.ts'

const MOST = 4

function opened() {
  const clock = { now: 0 }
  const warned: string[] = []
  const budget = new DescendantBudget({
    tenant: 'acme',
    most: MOST,
    now: () => clock.now,
    warn: (text) => void warned.push(text),
  })
  return { budget, clock, warned }
}

const causeOf = (root: string, hops = 2, task = 't'): Cause => ({ task, node: 'n', effect: `${root}/x`, root, hops })
const TOO_LARGE = expect.objectContaining({ code: 'TOO_LARGE' }) as unknown

describe('the budget of a root', () => {
  // Holds DESCEND-1
  it('is its own, and what the rules of the root itself make is never rejected', () => {
    const { budget } = opened()
    for (let i = 0; i < 2 * MOST; i++) budget.take(causeOf('a', 1), 'boiler')
    expect(() => budget.take(causeOf('a', 2), 'boiler')).toThrow(TOO_LARGE)
    for (let i = 0; i < MOST; i++) budget.take(causeOf('b', 2), 'boiler')
    expect(() => budget.take(causeOf('b', 3), 'boiler')).toThrow(TOO_LARGE)
    budget.take(causeOf('a', 1), 'boiler')
    expect(budget.refused).toBe(2)
  })

  it('is whole again after a while, for a task that continues on its own', () => {
    const { budget, clock } = opened()
    for (let i = 0; i < MOST; i++) budget.take(causeOf('a'), 'boiler')
    clock.now = 599_999
    expect(() => budget.take(causeOf('a'), 'boiler')).toThrow(TOO_LARGE)
    clock.now = 600_000
    budget.take(causeOf('a'), 'boiler')
  })

  it('is forgotten when thousands of newer ones came, and no earlier', () => {
    const { budget } = opened()
    for (let i = 0; i < MOST; i++) budget.take(causeOf('a'), 'boiler')
    for (let i = 0; i < 19_999; i++) budget.take(causeOf(`other ${i}`), 'boiler')
    expect(() => budget.take(causeOf('a'), 'boiler')).toThrow(TOO_LARGE)
    for (let i = 0; i < 20_000; i++) budget.take(causeOf(`third ${i}`), 'boiler')
    budget.take(causeOf('a'), 'boiler')
  })
})

describe('a loop', () => {
  it('is named by the resource and the nodes, in the log once a minute, and for some minutes by health', () => {
    const { budget, clock, warned } = opened()
    const refuse = (): void => {
      for (let i = 0; i <= MOST + 2; i++) {
        try {
          budget.take(causeOf(`at ${clock.now}`, 2, `t${i % 2}`), 'boiler')
        } catch {
          // refused, as expected
        }
      }
    }
    refuse()
    const loop = 'tenant acme: rules trigger each other through resource boiler: n of task t0, n of task t1'
    expect(budget.loops()).toEqual([loop])
    expect(warned).toEqual([expect.stringContaining(loop)])
    clock.now = 59_999
    refuse()
    expect(warned).toHaveLength(1)
    clock.now = 60_000
    refuse()
    expect(warned).toHaveLength(2)
    clock.now = 360_001
    expect(budget.loops()).toEqual([])
  })

  it('over many resources does not fill the log', () => {
    const { budget, warned } = opened()
    for (let i = 0; i < MOST; i++) budget.take(causeOf('a'), 'boiler')
    for (let i = 0; i < 100; i++) expect(() => budget.take(causeOf('a'), `boiler-${i}`)).toThrow(TOO_LARGE)
    expect([warned.length, budget.loops().length]).toEqual([1, 10])
  })
})

describe('a port within a budget', () => {
  // Holds DESCEND-2
  it('counts results, and does not forward what it rejects', async () => {
    const { budget } = opened()
    let posts = 0
    const data: Pick<DataPort, 'post' | 'command'> = {
      post: async () => void posts++,
      command: async () => Promise.reject(new AppError('RATE_LIMITED', 'later')),
    }
    const { data: bounded } = withinBudget({ data: data as DataPort }, budget)
    for (let i = 0; i < 2 * MOST; i++) {
      await expect(bounded?.command('boiler', { name: 'go' }, causeOf('a'))).rejects.toMatchObject({
        code: 'RATE_LIMITED',
      })
    }
    const post = () => bounded?.post('boiler', {}, { store: true, forward: true }, causeOf('a'))
    for (let i = 0; i < MOST; i++) await post()
    await expect(post()).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(posts).toBe(MOST)
  })
})
