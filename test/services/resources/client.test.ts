import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { createClient } from '../../../src/client.ts'
import type { ResourcesApi } from '../../../src/services/resources/contract.ts'
import { bench, type Bench } from './support/bench-of-resources.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** Each test must pass both in process and over HTTP. */
const WAYS = ['in process', 'over HTTP'] as const

describe.each(WAYS)('the resources service, %s', (way) => {
  let resources: Bench
  let api: ResourcesApi
  beforeEach(async () => {
    resources = await bench()
    if (way === 'in process') api = resources.api
    else {
      await resources.app.listen({ port: 0, host: '127.0.0.1' })
      const { port } = resources.app.server.address() as AddressInfo
      api = createClient({ url: `http://127.0.0.1:${port}` }).resources
    }
  })
  afterEach(() => resources.close())

  it('creates, changes and deletes a resource', async () => {
    expect(await api.resources.create({ id: 'r/1', name: 'a' })).toEqual({
      value: { id: 'r/1', name: 'a' },
      version: 1,
    })
    expect(await api.resources.patch('r/1', { name: null, b: 1 }, { ifVersion: 1 })).toEqual({
      value: { id: 'r/1', b: 1 },
      version: 2,
    })
    expect(await api.resources.replace('r/1', { c: 2 })).toEqual({ value: { id: 'r/1', c: 2 }, version: 3 })
    expect(await api.resources.get('r/1', { denormalized: false })).toEqual({ value: { id: 'r/1', c: 2 }, version: 3 })
    await api.resources.create({ id: 'child', parentId: 'r/1', ref: { $ref: '/resources/r%2F1' } })
    const page = { skip: 0, limit: 10, total: 1 }
    expect(await api.resources.children('r/1', { limit: 10 })).toMatchObject({ ...page, values: [{ id: 'child' }] })
    expect(await api.resources.referrers('r/1', { limit: 10 })).toMatchObject({ ...page, values: [{ id: 'child' }] })
    expect(await api.resources.list({ id: ['r/1', 'x'], limit: 10 })).toMatchObject({ ...page, values: [{ c: 2 }] })
    expect(await api.resources.commands('r/1', {})).toMatchObject({ total: 0, values: [] })
    expect(await api.resources.explain('r/1')).toHaveLength(2)
    await api.resources.remove('child')
    expect(await api.resources.remove('r/1', { cascade: ['alarms'], ifVersion: 3 })).toBeUndefined()
    expect((await api.resources.changes('r/1', { limit: 2 })).values.map(({ change }) => change)).toEqual([
      'deleted',
      'updated',
    ])
  })

  it('manages types and constraints', async () => {
    const { id } = await api.constraints.create({ name: 'c', attributes: [] })
    expect(await api.types.create({ id: 't', $constraints: [id] })).toMatchObject({ value: { id: 't' }, version: 1 })
    expect(await api.types.patch('t', { a: 1 })).toMatchObject({ value: { a: 1 }, version: 2, created: false })
    expect(await api.types.patch('u', { a: 1 })).toMatchObject({ value: { id: 'u', a: 1 }, created: true })
    expect(await api.types.replace('t', { b: 1, $constraints: [id] })).toMatchObject({ value: { b: 1 }, version: 3 })
    expect(await api.types.revalidate('t')).toMatchObject({ version: 3 })
    expect((await api.types.list({ filter: 'U' })).values).toMatchObject([{ id: 'u' }])
    expect((await api.types.changes('t', {})).total).toBe(3)
    const merged = (await api.types.constraints('t', 'merged')) as { id: unknown }
    expect(merged.id).toMatch(UUID)
    expect(await api.types.constraints('t', 'schema')).toMatchObject({ type: 'object' })
    expect(await api.types.constraints('t', 'paged', { limit: 5 })).toMatchObject({ limit: 5, total: 1 })
    expect(await api.constraints.schema(id)).toMatchObject({ type: 'object' })
    expect(await api.constraints.replace(id, { name: 'd', attributes: [] })).toMatchObject({ id, name: 'd' })
    expect(await api.constraints.list({})).toMatchObject({ total: 1, values: [{ name: 'd' }] })
    await api.types.remove('t')
    await api.constraints.remove(id)
    expect(await refusal(api.constraints.get(id))).toEqual(['NOT_FOUND', `No ResourceConstraint with id '${id}'`])
  })

  it('rejects with the same code and the same problems', async () => {
    await api.resources.create({ id: 'r' })
    expect(await refusal(api.resources.create({ id: 'r' }))).toEqual(['CONFLICT', 'Existing resource entry with id r'])
    expect((await refusal(api.resources.patch('r', {}, { ifVersion: 9 })))[0]).toBe('PRECONDITION')
    expect((await refusal(api.operations.get('none')))[0]).toBe('NOT_FOUND')
    const wrong: unknown = await api.resources.create({ id: 'x', name: 1, tags: 2 }).catch((error: unknown) => error)
    expect(wrong).toMatchObject({ code: 'VALIDATION', issues: [{ path: '/name' }, { path: '/tags' }] })
  })
})

async function refusal(work: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.message]
    throw error
  }
  throw new Error('it was not refused')
}
