import { describe, expect, it } from 'vitest'
import { metadataOf, resourcePort } from '../../../src/host/wiring/resources.ts'
import { bench } from '../../services/resources/support/bench-of-resources.ts'

const cause = (hops: number) => ({ task: 't', node: 'n', effect: 'e', hops })

describe('calls of resources by plugs', () => {
  it('is answered with inherited values', async () => {
    await using b = await bench()
    await b.api.types.create({ id: 'pump', maker: 'Acme' })
    await b.api.resources.create({ id: 'p1', resourceTypeId: 'pump' })
    const port = resourcePort('acme', () => b.service)
    expect(await port.get('p1')).toEqual({ id: 'p1', resourceTypeId: 'pump', maker: 'Acme' })
    expect(await port.get('p2')).toBeUndefined()
  })

  it('changes metadata in the name of the engine, and returns what is stored', async () => {
    await using b = await bench()
    await b.api.resources.create({ id: 'p1', old: 1 })
    const port = resourcePort('acme', () => b.service)
    expect(await port.patch('p1', { floor: 2, old: null }, cause(1))).toEqual({ id: 'p1', floor: 2 })
    const [last] = (await b.api.resources.changes('p1', {})).values
    expect(last).toMatchObject({ change: 'updated', userId: 'system/engine' })
  })

  it('rejects a change that seventeen rules in a row led to', async () => {
    await using b = await bench()
    const port = resourcePort('acme', () => b.service)
    await port.patch('p1', { n: 1 }, cause(16))
    await expect(port.patch('p1', { n: 2 }, cause(17))).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect((await b.api.resources.get('p1')).value).toMatchObject({ n: 1 })
  })

  it('rejects a change that came too late, and makes one that comes again once', async () => {
    await using b = await bench()
    const at = (input: number) => ({ ...cause(1), effect: `t/1/${input}/0` })
    const port = resourcePort('acme', () => b.service)
    expect(await port.patch('p1', { n: 2 }, at(2))).toMatchObject({ n: 2 })
    await expect(port.patch('p1', { n: 1 }, at(1))).rejects.toMatchObject({ code: 'SUPERSEDED' })
    await b.api.resources.patch('p1', { n: 5 })
    expect(await port.patch('p1', { n: 2 }, at(2))).toMatchObject({ n: 5 })
    expect((await b.api.resources.get('p1')).value).toMatchObject({ n: 5 })
    expect(await port.patch('p1', { n: 1 }, { ...at(1), unordered: true })).toMatchObject({ n: 1 })
    expect((await b.api.resources.changes('p1', {})).total).toBe(3)
    await port.patch('p2', { n: 1 }, at(1))
  })

  it('finds resources by the parameters of the listing, and the children of one', async () => {
    await using b = await bench()
    for (const id of ['a', 'b', 'c']) await b.api.resources.create({ id, parentId: 'house', tags: ['x', id] })
    const port = resourcePort('acme', () => b.service)
    const ids = (found: readonly Readonly<Record<string, unknown>>[]) => found.map(({ id }) => id)
    expect(ids(await port.find({ tag: ['x', 'b'] }))).toEqual(['b'])
    expect(ids(await port.find({ tag: 'x', limit: 2, skip: 1 }))).toEqual(['b', 'c'])
    await b.api.resources.create({ id: 'house' })
    expect(ids(await port.children('house'))).toEqual(['a', 'b', 'c'])
    await expect(port.find({ lat: 'north' })).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('is rejected where no resources are served', async () => {
    const port = resourcePort('acme', () => undefined)
    await expect(port.get('p1')).rejects.toThrow('this host does not serve resources')
    await expect(port.find({})).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('metadata for placeholders', () => {
  it('come at once when they are in memory', async () => {
    await using b = await bench()
    const metadata = metadataOf(() => b.service)
    await b.api.resources.create({ id: 'p1', floor: 1 })
    await metadata('p1')
    expect(metadata('p1')).toEqual({ id: 'p1', floor: 1 })
    await b.api.resources.patch('p1', { floor: 2 })
    expect(metadata('p1')).toEqual({ id: 'p1', floor: 2 })
  })

  it('are none where no resources are served', () => {
    expect(metadataOf(() => undefined)('p1')).toBeUndefined()
  })
})
