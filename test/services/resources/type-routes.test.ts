/** Tests resource types and constraints over HTTP: codes, texts, and background work. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pluck } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-resources.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

let resources: Bench
beforeEach(async () => {
  resources = await bench()
})
afterEach(() => resources.close())

/** Waits for background work to end. */
async function rest(id: string) {
  const read = () => resources.ask('GET', `/api/resourcetypes/${id}`)
  await expect.poll(async () => (await read()).at('$bulkOperation')).toBeUndefined()
  return read()
}

describe('resource types', () => {
  it('are created with an id of their own, or a generated one', async () => {
    const made = await resources.ask('POST', '/api/resourcetypes', { id: 'pump', test: 123, $bulkOperation: 'x' })
    expect([made.status, made.body]).toEqual([
      201,
      {
        statusCode: 201,
        uri: 'http://localhost:80/api/resourcetypes/pump',
        entity: { id: 'pump', test: 123, $constraints: [] },
      },
    ])
    const other = await resources.ask('POST', '/api/resourcetypes', { test: 1 })
    expect(other.headers['location']).toBe(`http://localhost:80/api/resourcetypes/${String(other.at('entity.id'))}`)
  })

  it.each([
    ['POST', '/api/resourcetypes', { id: 'pump' }, 409, 'Existing ResourceType entry with id pump'],
    ['DELETE', '/api/resourcetypes/pump', undefined, 400, 'Type in use by 1 resource(s)'],
    ['POST', '/api/resourcetypes/none/revalidate', undefined, 404, 'No type with id none'],
    ['PATCH', '/api/resourcetypes/pump', { id: 'x' }, 400, '/id <- is "x", but the path contains "pump" (omit it)'],
    [
      'PATCH',
      '/api/resourcetypes/pump',
      { $constraints: ['none'] },
      400,
      "/$constraints <- No ResourceConstraint with id 'none'",
    ],
  ] as const)('reject %s %s %j', async (method, url, body, status, error) => {
    await resources.ask('POST', '/api/resourcetypes', { id: 'pump' })
    await resources.ask('POST', '/api/resources', { id: 'r', resourceTypeId: 'pump' })
    const refused = await resources.ask(method, url, body)
    expect([refused.status, refused.at('error')]).toEqual([status, error])
  })

  it('are listed', async () => {
    const templates = [{ templateName: 'overheating', type: 'periodic', frequency: 60_000 }]
    await resources.ask('POST', '/api/resourcetypes', { id: 'a', name: 'Pump', templates })
    await resources.ask('POST', '/api/resourcetypes', { id: 'b', provider: 'acme', level: 3 })
    const ids = async (query: string) =>
      pluck((await resources.ask('GET', `/api/resourcetypes?${query}`)).at('values'), 'id')
    expect(await ids('')).toEqual(['a', 'b'])
    expect(await ids('filter=pum')).toEqual(['a'])
    expect(await ids('id=b&id=c')).toEqual(['b'])
    expect(await ids('template=overheating')).toEqual(['a'])
    expect(await ids('query=level:gt(2)')).toEqual(['b'])
    expect(await ids('query=provider:acme')).toEqual(['b'])
    expect(await ids('skip=1&limit=1')).toEqual(['b'])
    const some = await resources.ask('GET', '/api/resourcetypes?fields=name&limit=1')
    expect([some.headers['x-count'], some.body]).toEqual([
      '2',
      { values: [{ id: 'a', name: 'Pump' }], skip: 0, limit: 1, total: 2 },
    ])
  })

  it('have a history', async () => {
    await resources.ask('POST', '/api/resourcetypes', { id: 'a' })
    await resources.ask('PATCH', '/api/resourcetypes/a', { b: 1 })
    const changes = await resources.ask('GET', '/api/resourcetypes/a/changes')
    expect(changes.at('0')).toMatchObject({
      resourceTypeId: 'a',
      change: 'updated',
      userId: 'tester',
      resourceType: { id: 'a', b: 1, $constraints: [] },
    })
    expect(pluck(changes.body, 'change')).toEqual(['updated', 'created'])
  })

  it('may be created after their resources, which are then found by inherited values', async () => {
    await resources.ask('POST', '/api/resources', { id: 'r', resourceTypeId: 'pump' })
    expect((await resources.ask('GET', '/api/resources/r')).body).toEqual({ id: 'r', resourceTypeId: 'pump' })
    const made = await resources.ask('POST', '/api/resourcetypes', { id: 'pump', tags: ['x'] })
    expect(made.at('entity.$bulkOperation')).toEqual(expect.any(String))
    expect((await resources.ask('GET', '/api/resources/r')).at('tags')).toEqual(['x'])
    await rest('pump')
    expect((await resources.ask('GET', '/api/resources?tag=x')).at('total')).toBe(1)
  })

  it('that change are reflected by the search of a thousand resources, without new versions of these', async () => {
    await resources.ask('POST', '/api/resourcetypes', { id: 'pump', provider: 'one' })
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) => resources.api.resources.create({ id: `r${n}`, resourceTypeId: 'pump' })),
    )
    await resources.api.resources.patch('r7', { provider: 'mine' })
    const before = await resources.ask('GET', '/api/resources/r1')
    const patch = await resources.ask('PATCH', '/api/resourcetypes/pump', { provider: 'two' })
    expect(patch.at('$bulkOperation')).toEqual(expect.any(String))
    await rest('pump')
    const count = async (provider: string) =>
      (await resources.ask('GET', `/api/resources?limit=1&provider=${provider}`)).at('total')
    expect([await count('one'), await count('two'), await count('mine')]).toEqual([0, 999, 1])
    expect((await resources.ask('GET', '/api/resources/r1')).headers['etag']).toBe(before.headers['etag'])
    expect((await resources.ask('GET', '/api/resources/r1/changes')).headers['x-count']).toBe('1')
  })

  it('change the shown form of their resources immediately', async () => {
    await resources.ask('POST', '/api/resourcetypes', { id: 'pump', color: 'red' })
    await resources.ask('POST', '/api/resources', { id: 'r', resourceTypeId: 'pump' })
    expect(await resources.service.lookup('r')).toMatchObject({ color: 'red' })
    await resources.ask('PATCH', '/api/resourcetypes/pump', { color: 'blue' })
    expect(resources.service.lookup('r')).toMatchObject({ color: 'blue' })
    await resources.ask('PATCH', '/api/resources/r', { color: 'own' })
    expect(resources.service.lookup('r')).toMatchObject({ color: 'own' })
    await resources.ask('PATCH', '/api/resources/r', { color: null })
    expect(resources.service.lookup('r')).toMatchObject({ color: 'blue' })
  })
})

const ADDRESS = {
  name: 'Address',
  description: 'where it is',
  tags: ['place'],
  attributes: [{ name: 'address', required: true, type: { type: 'string', minLength: 2 } }],
}

async function constraint(body: object = ADDRESS): Promise<string> {
  const made = await resources.ask('POST', '/api/resourceconstraints', body)
  expect(made.status, made.text).toBe(201)
  return String(made.at('entity.id'))
}

describe('resource constraints', () => {
  it('are created and shown, also as JSON Schema', async () => {
    const made = await resources.ask('POST', '/api/resourceconstraints', ADDRESS)
    const id = String(made.at('entity.id'))
    expect(made.body).toEqual({
      statusCode: 201,
      uri: `http://localhost:80/api/resourceconstraints/${id}`,
      entity: { id, ...ADDRESS },
    })
    expect((await resources.ask('GET', `/api/resourceconstraints/${id}`)).body).toEqual({ id, ...ADDRESS })
    const schema = await resources.ask('GET', `/api/resourceconstraints/${id}`, undefined, {
      accept: 'application/schema+json',
    })
    expect(schema.headers['content-type']).toContain('application/schema+json')
    expect(schema.body).toEqual({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { address: { type: 'string', minLength: 2 } },
      required: ['address'],
    })
  })

  it.each([
    ['tags:in(a,c)', 0],
    ['tags:a OR tags:eq(c)', 2],
  ])('are found by %s', async (query, count) => {
    await constraint({ name: 'one', tags: ['a', 'b'], attributes: [] })
    await constraint({ name: 'two', tags: ['c'], attributes: [] })
    await constraint({ name: 'three', attributes: [] })
    const found = await resources.ask('GET', `/api/resourceconstraints?query=${encodeURIComponent(query)}`)
    expect(found.headers['x-count']).toBe(String(count))
  })

  const attribute = (type: unknown, name = 'x') => ({ name: 'c', attributes: [{ name, required: true, type }] })
  const inside = (type: unknown) => ({ type: 'object', attributes: attribute(type).attributes })
  const deep = (levels: number): unknown => (levels === 0 ? { type: 'string' } : inside(deep(levels - 1)))
  it.each([
    [{ name: 'c', attributes: [], color: 1 }, '/color'],
    [attribute('string'), '/attributes/0/type'],
    [attribute({ type: 'text' }), '/attributes/0/type/type'],
    [attribute({ type: 'numeric', minimum: '1' }), '/attributes/0/type/minimum'],
    [attribute({ type: 'numeric', minimum: 2, maximum: 1 }), '/attributes/0/type/minimum'],
    [attribute({ type: 'string', minLength: -1 }), '/attributes/0/type/minLength'],
    [attribute({ type: 'string', minLength: 1.5 }), '/attributes/0/type/minLength'],
    [attribute({ type: 'boolean', minimum: 1 }), '/attributes/0/type/minimum'],
    [attribute({ type: 'enum', enumType: 'string', items: [] }), '/attributes/0/type/items'],
    [attribute({ type: 'enum', enumType: 'numeric', items: ['a'] }), '/attributes/0/type/items/0'],
    [attribute({ type: 'enum', items: ['a'] }), '/attributes/0/type/enumType'],
    [attribute({ type: 'resourceRef', attributes: [{}] }), '/attributes/0/type/attributes/0'],
    [attribute(inside({ type: 'x' })), '/attributes/0/type/attributes/0/type/type'],
    [attribute({ type: 'array', elementType: { type: 'boolean', a: 1 } }), '/attributes/0/type/elementType/a'],
    [attribute(deep(11)), `/attributes/0/type${'/attributes/0/type'.repeat(11)}`],
    [attribute({ type: 'string' }, 'constructor'), '/attributes/0/name'],
    [{ name: 'c', attributes: [...attribute({ type: 'boolean' }).attributes, { name: 'x' }] }, '/attributes/1/name'],
  ])('reject %j', async (body, path) => {
    const refused = await resources.ask('POST', '/api/resourceconstraints', body)
    expect([refused.status, pluck(refused.at('details'), 'instancePath')]).toEqual([
      400,
      expect.arrayContaining([path]),
    ])
  })

  it.each([
    [{ type: 'numeric' }, 'provider'],
    [{ type: 'string' }, 'tags'],
    [{ type: 'array', elementType: { type: 'numeric' } }, 'tags'],
    [{ type: 'enum', enumType: 'numeric', items: [1] }, 'name'],
  ])('cannot contradict reserved attributes: %j of %s', async (type, name) => {
    const refused = await resources.ask('POST', '/api/resourceconstraints', attribute(type, name))
    expect([refused.status, refused.at('error')]).toEqual([400, 'Cannot redefine default keywords'])
  })

  it.each([
    [{ type: 'string', minLength: 1, maxLength: 255 }, 'name'],
    [{ type: 'enum', enumType: 'string', items: ['a'] }, 'provider'],
    [{ type: 'array', minLength: 1 }, 'tags'],
    [{ type: 'numeric', minimum: 0 }, 'lastMessageTimestamp'],
  ])('can restrict reserved attributes further: %j of %s', async (type, name) => {
    expect((await resources.ask('POST', '/api/resourceconstraints', attribute(type, name))).status).toBe(201)
  })

  it('apply to writes of resources, inherited values included', async () => {
    const id = await constraint()
    await resources.ask('POST', '/api/resourcetypes', { id: 'house', $constraints: [id] })
    const refused = await resources.ask('POST', '/api/resources', { id: 'r', resourceTypeId: 'house' })
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        statusCode: 400,
        error: '/address <- Property address missing.',
        code: 'VALIDATION',
        details: [
          {
            schemaPath: '#',
            errors: {},
            keyword: 'required',
            msgs: ['Property address missing.'],
            instancePath: '/address',
          },
        ],
      },
    ])
    const short = await resources.ask('PUT', '/api/resources/r', { resourceTypeId: 'house', address: 'x' })
    expect(short.at('error')).toBe('/address <- Property address must have at least 2 characters.')
    await resources.ask('PATCH', '/api/resourcetypes/house', { address: 'Ghent' })
    expect((await resources.ask('POST', '/api/resources', { id: 'r', resourceTypeId: 'house' })).status).toBe(201)
    expect((await resources.ask('PATCH', '/api/resources/r', { address: 'x' })).status).toBe(400)
  })

  it('that are added to a type with resources are checked against these in the background', async () => {
    const id = await constraint()
    await resources.ask('POST', '/api/resourcetypes', { id: 'house' })
    for (const address of ['Ghent', 'x', 'y']) {
      await resources.ask('POST', '/api/resources', { id: address, resourceTypeId: 'house', address })
    }
    const applied = await resources.ask('PATCH', '/api/resourcetypes/house', { $constraints: [id] })
    expect([applied.status, applied.at('$constraints')]).toEqual([202, [{ constraintId: id, status: 'applying' }]])
    const failed = await rest('house')
    expect(failed.at('$constraints')).toEqual([
      {
        constraintId: id,
        status: 'failed',
        errors: [
          {
            error: 'Property address must have at least 2 characters.',
            errorPath: '/address',
            resources: ['x', 'y'],
          },
        ],
      },
    ])
    for (const bad of ['x', 'y']) await resources.ask('PATCH', `/api/resources/${bad}`, { address: 'better' })
    const revalidate = () => resources.ask('POST', '/api/resourcetypes/house/revalidate')
    const [again, busy] = await Promise.all([revalidate(), revalidate()])
    expect([again.status, again.at('$constraints.0.status')]).toEqual([202, 'applying'])
    expect([busy.status, busy.at('error')]).toEqual([409, 'An operation is already busy on house'])
    expect((await rest('house')).at('$constraints')).toEqual([{ constraintId: id, status: 'ineffect' }])
  })

  it('cannot be deleted while they are in use', async () => {
    const id = await constraint()
    await resources.ask('POST', '/api/resourcetypes', { id: 'house', $constraints: [id] })
    const inUse = [400, `ResourceConstraint '${id}' is in use`]
    const refused = await resources.ask('DELETE', `/api/resourceconstraints/${id}`)
    expect([refused.status, refused.at('error')]).toEqual(inUse)
    expect((await resources.ask('PUT', `/api/resourceconstraints/${id}`, ADDRESS)).status).toBe(200)
    await resources.ask('POST', '/api/resources', { id: 'r', resourceTypeId: 'house', address: 'Ghent' })
    const late = await resources.ask('PUT', `/api/resourceconstraints/${id}`, ADDRESS)
    expect([late.status, late.at('error')]).toEqual(inUse)
  })

  it('that contradict each other cannot be combined', async () => {
    const one = await constraint(attribute({ type: 'numeric', maximum: 1 }))
    const two = await constraint(attribute({ type: 'numeric', minimum: 2 }))
    const refused = await resources.ask('POST', '/api/resourcetypes', { id: 't', $constraints: [one, two] })
    const both = `"c" (${one}) and "c" (${two})`
    expect([refused.status, refused.at('error')]).toEqual([
      400,
      `/$constraints <- constraints are incompatible to each other: no value can satisfy the attribute x of ${both} (omit one of them)`,
    ])
  })

  it('are reported together if each two of three are compatible, and separately for each attribute', async () => {
    const enumOf = (...items: readonly string[]) => attribute({ type: 'enum', enumType: 'string', items })
    const ids = [
      await constraint(enumOf('a', 'b')),
      await constraint(enumOf('b', 'c')),
      await constraint(enumOf('a', 'c')),
    ]
    const refused = await resources.ask('POST', '/api/resourcetypes', { id: 't', $constraints: ids })
    expect(refused.at('error')).toContain(ids.map((id) => `"c" (${id})`).join(' and '))
  })

  it('of a type are shown merged with the reserved ones, as a schema, or as they were written', async () => {
    const id = await constraint()
    await resources.ask('POST', '/api/resourcetypes', { id: 'house', $constraints: [id] })
    const url = '/api/resourcetypes/house/constraints'
    const merged = await resources.ask('GET', url)
    const again = await resources.ask('GET', '/api/resourcetypes/house/constraints')
    expect([merged.at('id'), again.at('id')]).toEqual([expect.stringMatching(UUID), merged.at('id')])
    expect(merged.body).toMatchObject({ name: 'Constraints for resourceType house' })
    expect(pluck(merged.at('attributes'), 'name')).toHaveLength(17)
    const schema = await resources.ask('GET', url, undefined, { accept: 'application/schema+json' })
    expect(schema.at('required')).toEqual(['id', 'address'])
    const paged = await resources.ask('GET', url, undefined, { accept: 'application/vnd.service.paged+json' })
    expect(paged.body).toEqual({ values: [{ id, ...ADDRESS }], skip: 0, limit: 100, total: 1 })
  })

  it('require of references that the resource exists, and has a type', async () => {
    const id = await constraint(
      attribute({ type: 'resourceRef', exists: true, resourceTypes: ['hall'], attributes: ['since'] }),
    )
    await resources.ask('POST', '/api/resourcetypes', { id: 't', $constraints: [id] })
    await resources.ask('POST', '/api/resources', { id: 'h', resourceTypeId: 'hall' })
    await resources.ask('POST', '/api/resources', { id: 'o' })
    const write = async (x: unknown) =>
      (await resources.ask('PUT', '/api/resources/r', { resourceTypeId: 't', x })).at('error')
    expect(await write({ $ref: '/resources/h', since: 1 })).toBeUndefined()
    expect(await write({ $ref: '/resources/h' })).toBe('/x/since <- Property since missing.')
    expect(await write({ $ref: '/resources/n', since: 1 })).toBe(
      '/x <- Property x refers to the resource n, which does not exist.',
    )
    expect(await write({ $ref: '/resources/o', since: 1 })).toBe(
      '/x <- Property x must refer to a resource of type hall.',
    )
    expect(await write({ $ref: 'h' })).toBe('/x/$ref <- Property $ref must begin with /resources/ and name a resource.')
  })
})
