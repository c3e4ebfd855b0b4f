import { describe, expect, it } from 'vitest'
import { StateCache } from '../../../src/core/engine/state-cache.ts'

function tasks(open: ReadonlySet<string> = new Set()) {
  const packed: string[] = []
  const task = (name: string) => ({
    pack(): boolean {
      if (!open.has(name)) packed.push(name)
      return !open.has(name)
    },
  })
  return { packed, task }
}

describe('the full states of an engine', () => {
  it('are packed above the limit, the oldest first', () => {
    const { packed, task } = tasks()
    const states = new StateCache({ hasWork: false }, 2)
    for (const name of ['a', 'b', 'c', 'd']) {
      states.add(task(name))
      states.settle()
    }
    expect(packed).toEqual(['a', 'b'])
  })

  it('are not packed below the limit, or after the removal of their task', () => {
    const { packed, task } = tasks()
    const states = new StateCache({ hasWork: false }, 1)
    const gone = task('gone')
    for (const one of [gone, task('stays')]) states.add(one)
    states.delete(gone)
    states.settle()
    expect(packed).toEqual([])
  })

  it('are retried later while calls are open', () => {
    const open = new Set(['a'])
    const { packed, task } = tasks(open)
    const states = new StateCache({ hasWork: false }, 1)
    for (const name of ['a', 'b', 'c']) states.add(task(name))
    states.settle()
    expect(packed).toEqual(['b'])
    open.clear()
    states.settle()
    expect(packed).toEqual(['b', 'c'])
    states.add(task('d'))
    states.settle()
    expect(packed).toEqual(['b', 'c', 'a'])
  })

  it('are examined a few at a time', () => {
    const { packed, task } = tasks()
    const states = new StateCache({ hasWork: false }, 0)
    for (const name of ['a', 'b', 'c', 'd', 'e']) states.add(task(name))
    states.settle()
    expect(packed).toEqual(['a', 'b'])
  })

  it('request the end of the input while they are too many', () => {
    const { task } = tasks(new Set(['a', 'b']))
    const end = { hasWork: false }
    const asked = (work: () => void): boolean => {
      end.hasWork = false
      work()
      return end.hasWork
    }
    const states = new StateCache(end, 1)
    const [a, b] = [task('a'), task('b')]
    expect(asked(() => states.add(a))).toBe(false)
    expect(asked(() => states.add(b))).toBe(true)
    expect(asked(() => states.settle())).toBe(true)
    states.delete(b)
    expect(asked(() => states.settle())).toBe(false)
  })
})
