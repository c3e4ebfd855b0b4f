import { describe, expect, it } from 'vitest'
import { resourceFinder } from '../../../src/host/wiring/resource-filter.ts'
import { bench } from '../../services/resources/support/bench-of-resources.ts'

describe('resources that a filter of tasks means', () => {
  it('are found by type and by an expression over metadata', async () => {
    await using b = await bench()
    await b.api.types.create({ id: 'pump' })
    for (const [id, floor] of [
      ['p1', 1],
      ['p2', 2],
    ] as const)
      await b.api.resources.create({ id, floor, resourceTypeId: 'pump' })
    await b.api.resources.create({ id: 'b1', floor: 1 })
    const { find } = resourceFinder('acme', b.service)
    expect(await find({ type: 'pump' }, 100)).toEqual(['p1', 'p2'])
    expect(await find({ expression: 'floor:1' }, 100)).toEqual(['b1', 'p1'])
    expect(await find({ type: 'pump', expression: 'floor:1' }, 100)).toEqual(['p1'])
  })

  it('are found page by page, and no longer than are requested', async () => {
    await using b = await bench()
    const ids = Array.from({ length: 120 }, (_, i) => `r${String(i).padStart(3, '0')}`)
    for (const id of ids) await b.api.resources.create({ id, resourceTypeId: 'many' })
    const { find } = resourceFinder('acme', b.service)
    expect(await find({ type: 'many' }, 1000)).toEqual(ids)
    expect(await find({ type: 'many' }, 110)).toHaveLength(110)
  })

  it('are rejected with an expression that cannot be read', async () => {
    await using b = await bench()
    await expect(resourceFinder('acme', b.service).find({ expression: 'floor:(' }, 10)).rejects.toMatchObject({
      status: 400,
    })
  })
})
