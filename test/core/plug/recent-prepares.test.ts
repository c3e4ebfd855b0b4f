import { describe, expect, it } from 'vitest'
import { RecentPrepares } from '../../../src/core/plug/recent-prepares.ts'
import { createEngine } from '../../../src/index.ts'
import { sensorPlug } from '../../support/make-plug.ts'

function counted() {
  const calls: unknown[] = []
  const recent = new RecentPrepares((properties) => calls.push(properties))
  return { calls, recent }
}

describe('the recently prepared properties of a node', () => {
  it('are reused for equal properties', () => {
    const { calls, recent } = counted()
    const first = recent.prepare({ a: 1, b: [1, { c: 'x' }] })
    expect(recent.prepare({ a: 1, b: [1, { c: 'x' }] })).toBe(first)
    expect(calls).toHaveLength(1)
  })

  it.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: Number.NaN }, { a: Number.POSITIVE_INFINITY }],
    [{ a: Number.NEGATIVE_INFINITY }, { a: Number.POSITIVE_INFINITY }],
    [{ a: [Number.NaN] }, { a: [null] }],
    [{ a: 0 }, { a: -0 }],
    [{ a: 1 }, { b: 1 }],
    [{}, { a: null }],
  ])('distinguish %o and %o', (one, other) => {
    const { calls, recent } = counted()
    expect(recent.prepare(one)).not.toBe(recent.prepare(other))
    expect(calls).toHaveLength(2)
  })

  it('are limited in number', () => {
    const { calls, recent } = counted()
    for (let i = 0; i < 100; i++) recent.prepare({ i })
    recent.prepare({ i: 99 })
    expect(calls).toHaveLength(100)
    recent.prepare({ i: 0 })
    expect(calls).toHaveLength(101)
  })

  it('are prepared again after an error, and if they are not JSON', () => {
    const recent = new RecentPrepares(({ bad }) => {
      if (bad === true) throw new Error('no')
      return {}
    })
    expect(() => recent.prepare({ bad: true })).toThrow('no')
    expect(() => recent.prepare({ bad: true })).toThrow('no')
    const loop: Record<string, unknown> = {}
    loop['loop'] = loop
    expect(recent.prepare(loop)).not.toBe(recent.prepare(loop))
  })

  it('avoid compiling at every message for a node with a placeholder', async () => {
    let prepared = 0
    const plug = sensorPlug('counts', ['Done'], {
      input: { code: { type: 'string' }, limit: { type: 'double' } },
      prepare: () => ++prepared,
      execute: () => 'Done',
    })
    const engine = createEngine({ plugs: [plug] })
    await engine.start(
      {
        sensors: [
          { label: 's', name: 'counts', resource: '$', properties: { code: 'v > 1', limit: '${streamdata.l}' } },
        ],
      },
      { resource: 'r' },
    )
    for (const l of [1, 1, 1, 2, 1, 2]) engine.receive({ resource: 'r', l })
    expect(prepared).toBe(2)
    await engine.close()
  })
})
